package dev.faro.storage;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CountDownLatch;

/**
 * The test kit for implementations of {@link StoredFile}. It reads a file in many ways and compares: size, reads at,
 * before and after the end, reads by several threads, and ranges. Reads that return fewer bytes than there is room for
 * are legal.
 * <pre>{@code
 * try (StoredFile file = myStorage.open("orders.data")) {
 *     StoredFileCheck.check(file, ByteBuffer.wrap(bytes));
 * }
 * }</pre>
 */
public final class StoredFileCheck {
    private static final int THREADS = 4;
    private static final int ROUNDS = 100;
    private static final int MAX_LENGTH = 1 << 20;
    private static final int MAX_RANDOM_LENGTH = 1 << 14;
    /** Distances from the end, up to some that no int can hold. */
    private static final long[] AFTER_END = {0, 1, 7, 4096, 1L << 33, 1L << 40};

    private final StoredFile file;
    private final ByteBuffer bytes;
    private final int size;

    private StoredFileCheck(StoredFile file, ByteBuffer bytes) {
        this.file = file;
        this.bytes = bytes;
        this.size = bytes.limit();
    }

    /**
     * Checks a file against the bytes that it should have. The file stays open.
     *
     * @param expected the whole content, from the position to the limit
     * @throws AssertionError if the file breaks a promise; the message has the call and what is wrong with its result
     */
    public static void check(StoredFile file, ByteBuffer expected) {
        Objects.requireNonNull(file, "file");
        Objects.requireNonNull(expected, "expected");
        StoredFileCheck check = new StoredFileCheck(file, expected.slice().asReadOnlyBuffer());
        check.checkSize();
        check.checkReads();
        check.checkRanges();
        check.checkThreads();
        check.checkSize();
    }

    private interface Call<T> {
        T make() throws Exception;
    }

    /** Makes a call that must not fail. */
    private static <T> T succeed(String call, Call<T> action) {
        try {
            return action.make();
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new AssertionError(call + " failed: " + e, e);
        }
    }

    private static void require(boolean right, String call, String wrong) {
        if (!right) {
            throw new AssertionError(call + " " + wrong);
        }
    }

    private void checkSize() {
        long found = succeed("size()", file::size);
        require(found == size, "size()", "returned " + found + " instead of " + size);
    }

    private void checkReads() {
        List<Long> offsets = new ArrayList<>();
        for (int offset : new int[] {0, 1, 7, size / 3, size / 2, size - 4096, size - 8, size - 1}) {
            if (offset >= 0 && offset < size) {
                offsets.add((long) offset);
            }
        }
        for (long after : AFTER_END) {
            offsets.add(size + after);
        }
        int most = Math.min(size, MAX_LENGTH);
        for (long offset : offsets) {
            for (int length : new int[] {0, 1, 2, 7, 8, 9, 64, 4095, 4096, 4097, 65_537, most, most + 1}) {
                if (length <= most + 1) {
                    readOnce(offset, new Room(length, false));
                    readAll(offset, new Room(length, true));
                }
            }
        }
    }

    /** Reads until the buffer is full or the file ends. */
    private void readAll(long offset, Room room) {
        long at = offset;
        int count = readOnce(at, room);
        while (count > 0) {
            at += count;
            count = readOnce(at, room);
        }
    }

    /** Reads once into what is left of a buffer, and checks the result. */
    private int readOnce(long offset, Room room) {
        int left = room.target.remaining();
        int before = room.target.position();
        String call = "read(" + offset + ", " + left + " bytes) of " + size;
        int count = succeed(call, () -> file.read(offset, room.target));
        require(count <= left, call, "returned " + count + ", more than there is room for");
        boolean atEnd = offset >= size;
        if (left == 0) {
            require(count == 0 || count == -1 && atEnd, call, "returned " + count + " without room in the buffer");
        } else if (atEnd) {
            require(count == -1, call, "returned " + count + " after the end, instead of -1");
        } else {
            require(count > 0, call, "returned " + count + " before the end");
        }
        int moved = room.target.position() - before;
        require(moved == Math.max(count, 0), call, "returned " + count + ", but moved the position by " + moved);
        room.check(call, before, offset);
        return count;
    }

    private void checkRanges() {
        int most = Math.min(size, MAX_LENGTH);
        int half = most / 2;
        int third = most / 3;
        read(new long[][] {});
        read(new long[][] {{0, most}});
        read(new long[][] {{0, 0}});
        read(new long[][] {{half, 0}, {size, 0}, {size + 1L, 0}, {0, 1}});
        read(new long[][] {{0, third}, {third, third}, {2L * third, third}});
        read(new long[][] {{third, third}, {third, third}});
        read(new long[][] {{0, half}, {third, half}, {third, 1}});
        read(new long[][] {{size - third, third}, {half, third}, {0, third}});
        read(new long[][] {{size - third, third + 1L}, {0, third}});
        for (long after : AFTER_END) {
            read(new long[][] {{0, third}, {size + after, 10}, {half, third}});
        }
        Random random = new Random(1);
        for (int i = 0; i < ROUNDS; i++) {
            readRandomRanges(random);
        }
    }

    private void readRandomRanges(Random random) {
        long[][] ranges = new long[random.nextInt(8)][];
        for (int i = 0; i < ranges.length; i++) {
            ranges[i] = new long[] {randomOffset(random), randomLength(random)};
        }
        read(ranges);
    }

    private long randomOffset(Random random) {
        return random.nextLong(size + 1L + size / 16);
    }

    private static int randomLength(Random random) {
        // Short ones are as frequent as long ones.
        return random.nextInt(1 + random.nextInt(MAX_RANDOM_LENGTH));
    }

    /** Reads ranges, each of which is an offset and a length, with one call. */
    private void read(long[][] ranges) {
        List<RangeRead> reads = new ArrayList<>();
        List<Room> rooms = new ArrayList<>();
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < ranges.length; i++) {
            Room room = new Room((int) ranges[i][1], i % 2 == 1);
            rooms.add(room);
            reads.add(new RangeRead(ranges[i][0], room.target));
            texts.add(ranges[i][0] + ", " + ranges[i][1] + " bytes");
        }
        String all = "readRanges(" + texts + ") of " + size;
        succeed(all, () -> {
            file.readRanges(List.copyOf(reads));
            return null;
        });
        for (int i = 0; i < ranges.length; i++) {
            String call = all + ", range " + i + ",";
            long wanted = Math.max(0, Math.min(ranges[i][1], size - ranges[i][0]));
            int found = rooms.get(i).target.position() - Room.MARGIN;
            require(found == wanted, call, "read " + found + " bytes instead of " + wanted);
            rooms.get(i).check(call, Room.MARGIN, ranges[i][0]);
        }
    }

    private void checkThreads() {
        List<Throwable> failures = new ArrayList<>();
        CountDownLatch ready = new CountDownLatch(THREADS);
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            Random random = new Random(i);
            Thread thread = new Thread(() -> {
                try {
                    ready.countDown();
                    ready.await();
                    for (int round = 0; round < ROUNDS; round++) {
                        readAll(randomOffset(random), new Room(randomLength(random), random.nextBoolean()));
                        readRandomRanges(random);
                    }
                } catch (Throwable e) {
                    synchronized (failures) {
                        failures.add(e);
                    }
                }
            }, "stored file check " + i);
            thread.start();
            threads.add(thread);
        }
        for (Thread thread : threads) {
            succeed("waiting for threads", () -> {
                thread.join();
                return null;
            });
        }
        if (!failures.isEmpty()) {
            Throwable first = failures.get(0);
            throw new AssertionError(THREADS + " threads at the same time: " + first.getMessage(), first);
        }
    }

    /** A part of a larger buffer to read into, so that bytes beside it show. */
    private final class Room {
        static final int MARGIN = 8;
        private static final byte UNTOUCHED = 0x5A;

        final ByteBuffer target;
        private final int end;

        Room(int length, boolean direct) {
            int capacity = MARGIN + length + MARGIN;
            end = MARGIN + length;
            target = direct ? ByteBuffer.allocateDirect(capacity) : ByteBuffer.allocate(capacity);
            while (target.hasRemaining()) {
                target.put(UNTOUCHED);
            }
            target.limit(end).position(MARGIN);
        }

        /** Checks what was read, which begins at an index in the buffer and at an offset in the file. */
        void check(String call, int from, long offset) {
            require(target.limit() == end, call, "changed the limit of the buffer");
            ByteBuffer all = target.duplicate().clear();
            for (int i = 0; i < MARGIN; i++) {
                require(all.get(i) == UNTOUCHED && all.get(end + i) == UNTOUCHED, call, "wrote outside of its room");
            }
            int count = target.position() - from;
            if (count == 0) {
                return;
            }
            int wrong = all.slice(from, count).mismatch(bytes.slice((int) offset, count));
            if (wrong >= 0) {
                throw new AssertionError(call + " returned a wrong byte for offset " + (offset + wrong) + ": "
                        + all.get(from + wrong) + " instead of " + bytes.get((int) offset + wrong));
            }
        }
    }
}
