package dev.faro.bench;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The repetitions of a case. In each round every subject writes once; another subject begins each time. */
public final class Rounds {
    private final List<WriteSubject> subjects;
    private final List<List<Long>> nanos = new ArrayList<>();
    private final Outcome[] last;
    private final int inARow;
    private int round;

    /**
     * Makes rounds of some subjects. If {@code writes} is true, each repetition is done three times in a row, and the
     * fastest counts. The reason is that the host of a virtual machine may have taken back free memory: the first
     * program that writes to it waits for the host, ten times as long as the write takes.
     */
    public Rounds(List<WriteSubject> subjects, boolean writes) {
        this.subjects = subjects;
        this.inARow = writes ? 3 : 1;
        this.last = new Outcome[subjects.size()];
        subjects.forEach(subject -> nanos.add(new ArrayList<>()));
    }

    /** Lets each subject write once. */
    public void run(boolean measured) throws Exception {
        for (int i = 0; i < subjects.size(); i++) {
            int number = (i + round) % subjects.size();
            WriteSubject subject = subjects.get(number);
            Outcome best = once(subject);
            for (int again = 1; measured && again < inARow; again++) {
                Outcome other = once(subject);
                best = other.nanos() < best.nanos() ? other : best;
            }
            last[number] = best;
            if (measured) {
                nanos.get(number).add(best.nanos());
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
    public void report(String part, ObjectNode caseFields, Results results) throws IOException {
        for (int i = 0; i < subjects.size(); i++) {
            WriteSubject subject = subjects.get(i);
            if (nanos.get(i).isEmpty()) {
                continue;
            }
            ObjectNode line = Results.line(part, subject.name(), caseFields, nanos.get(i), subject.plainBytes());
            if (last[i].storedBytes() > 0) {
                line.put("stored_bytes", last[i].storedBytes());
            }
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
