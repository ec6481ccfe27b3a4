package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.follow.Follower;
import dev.faro.reader.Reader;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** {@code follow}: a follower of files that grow. */
final class FollowTarget implements Target {
    private static final int STEPS = 5;

    @Override
    public void run(byte[] bytes, Folder folder, Transcript transcript) throws IOException {
        FilesInput input = FilesInput.of(bytes);
        folder.write(input.firstName(), new byte[0]);
        folder.write(input.secondName(), new byte[0]);
        try (Following following = new Following(input, folder, transcript)) {
            for (int step = 1; step <= STEPS; step++) {
                grow(input, folder, step);
                following.step(step);
            }
            following.compare();
        }
    }

    private static void grow(FilesInput input, Folder folder, int step) throws IOException {
        if (step == STEPS) {
            folder.grow(input.firstName(), input.first(), Integer.MAX_VALUE);
            folder.grow(input.secondName(), input.secondOrOnly(), Integer.MAX_VALUE);
        } else if (step % 2 == 1) {
            folder.grow(input.firstName(), input.first(), input.growth()[step - 1]);
        } else {
            folder.grow(input.secondName(), input.secondOrOnly(), input.growth()[step - 1]);
        }
    }

    /** A follower, and what it has returned so far. */
    private static final class Following implements AutoCloseable {
        private final FilesInput input;
        private final Folder folder;
        private final Transcript transcript;
        private final Map<Integer, Content> seen = new HashMap<>();
        private Follower follower;
        private int regions;
        private boolean finished;
        /** Whether it was finished before the last step: then it does not look at the files any more (FOL-5). */
        private boolean finishedBefore;
        private FaroException failure;

        Following(FilesInput input, Folder folder, Transcript transcript) {
            this.input = input;
            this.folder = folder;
            this.transcript = transcript;
        }

        void step(int step) throws IOException {
            failure = null;
            if (follower == null) {
                try {
                    follower = input.follower(folder);
                } catch (FaroException e) {
                    failure = FilesInput.judged(e);
                    transcript.line("open", step, e);
                    return;
                }
            }
            finishedBefore = finished;
            try {
                finished = follower.poll();
                transcript.line("poll", step, follower.regionCount(), finished ? 1 : 0);
            } catch (FaroException e) {
                failure = FilesInput.judged(e);
                transcript.line("poll", step, follower.regionCount(), e);
            }
            Broken.unless(follower.regionCount() >= regions, "regions never disappear");
            boolean same = finished && follower.regionCount() == regions;
            Broken.unless(!finishedBefore || same, "no regions appear after the end");
            regions = follower.regionCount();
            read();
        }

        private void read() throws IOException {
            for (int partition : Content.partitions(follower.header())) {
                Content content = Content.ofPartition(follower, partition, input.limits().maxPlainSize());
                content.print(transcript, "partition", partition);
                Content before = seen.get(partition);
                if (before != null && before.error() == null) {
                    List<Long> blocks = before.blocks();
                    boolean same = content.blocks().size() >= blocks.size()
                            && content.blocks().subList(0, blocks.size()).equals(blocks);
                    Broken.unless(same, "blocks that were read stay the same");
                }
                seen.put(partition, content);
            }
        }

        /** Compares it with a follower that sees the whole files at once and, if the files are valid, with a reader. */
        void compare() throws IOException {
            try (Following late = new Following(input, folder, new Transcript())) {
                late.step(STEPS);
                boolean same = late.regions == regions && late.finished == finished
                        && Content.isSame(late.failure, failure);
                Broken.unless(finishedBefore || same,
                        "a follower that starts late has the same result: " + failure + ", " + late.failure);
                Broken.unless(finishedBefore || isSame(late.seen), "a follower that starts late reads the same blocks");
            }
            try (Reader reader = input.reader(folder)) {
                Check.check(reader, CheckLevel.CHECKSUMS);
                Broken.unless(failure == null && finished && regions == reader.regionCount(),
                        "a follower sees all of a valid file");
                Map<Integer, Content> read = new HashMap<>();
                for (int partition : Content.partitions(reader.header())) {
                    read.put(partition, Content.ofPartition(reader, partition, input.limits().maxPlainSize()));
                }
                Broken.unless(isSame(read), "follower and reader read the same blocks");
            } catch (FaroException e) {
                FilesInput.judged(e);
            }
        }

        private boolean isSame(Map<Integer, Content> other) {
            return seen.keySet().equals(other.keySet())
                    && seen.keySet().stream().allMatch(partition -> seen.get(partition).isSame(other.get(partition)));
        }

        @Override
        public void close() throws FaroException {
            if (follower != null) {
                follower.close();
            }
        }
    }
}
