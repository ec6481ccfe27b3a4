package dev.faro.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Repetitions of a case: each round lets every subject write once, beginning with another each time. */
public final class Rounds {
    private final List<WriteSubject> subjects;
    private final List<List<Long>> nanos = new ArrayList<>();
    private final Outcome[] last;
    private final boolean twice;
    private int round;

    /**
     * Rounds of some subjects. With {@code twice} each repetition is done twice, and the second one counts: the host of a
     * virtual machine may have taken back what memory is free, and the first to write to it waits for the host, ten times
     * as long as writing takes.
     */
    public Rounds(List<WriteSubject> subjects, boolean twice) {
        this.subjects = subjects;
        this.twice = twice;
        this.last = new Outcome[subjects.size()];
        subjects.forEach(subject -> nanos.add(new ArrayList<>()));
    }

    /** Lets everybody write once. */
    public void run(boolean measured) throws Exception {
        for (int i = 0; i < subjects.size(); i++) {
            int which = (i + round) % subjects.size();
            WriteSubject subject = subjects.get(which);
            if (twice && measured) {
                once(subject);
            }
            last[which] = once(subject);
            if (measured) {
                nanos.get(which).add(last[which].nanos());
            }
        }
        round++;
    }

    private static Outcome once(WriteSubject subject) throws Exception {
        try {
            return subject.write();
        } finally {
            subject.clear();
        }
    }

    /** Appends the results of all measured rounds. */
    public void report(String part, ObjectNode which, Results results) throws IOException {
        for (int i = 0; i < subjects.size(); i++) {
            WriteSubject subject = subjects.get(i);
            if (nanos.get(i).isEmpty()) {
                continue;
            }
            ObjectNode line = Results.line(part, subject.name(), which, nanos.get(i), subject.plainBytes())
                    .put("stored_bytes", last[i].storedBytes());
            if (last[i].indexBytes() > 0) {
                line.put("index_bytes", last[i].indexBytes());
            }
            if (last[i].files() > 0) {
                line.put("files", last[i].files());
            }
            ObjectNode figures = subject.figures();
            if (figures != null) {
                line.set("figures", figures);
            }
            results.append(line);
        }
    }
}
