package dev.faro.storage;

import dev.faro.FileRole;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The test kit for implementations of {@link Destination} and {@link NewFile}. It makes files under names that begin
 * with {@code check-}, publishes them, refuses and replaces them, gives them up, and reads them back. In the end all of them are removed.
 * <pre>{@code
 * DestinationCheck.check(store::destination, store::find);
 * }</pre>
 */
public final class DestinationCheck {
    private static final FileRole[] PAIR = {FileRole.DATA, FileRole.INDEX};
    private static final int[] SIZES = {0, 1, 7, 64, 4096, 65_536, 65_537, 1_000_003};
    private static final int WRITERS = 4;

    private final Factory factory;
    private final Finder finder;
    private final Random random = new Random(1);
    private int number;

    private DestinationCheck(Factory factory, Finder finder) {
        this.factory = factory;
        this.finder = finder;
    }

    /** Makes destinations of the implementation that is checked. */
    public interface Factory {
        /**
         * Makes a destination for an output of this NAME. With a NAME that it had before, the result has the same names
         * for its files; it may be the same object.
         */
        Destination make(String name) throws IOException;
    }

    /** Looks for files as readers find them. */
    public interface Finder {
        /** Opens the file that has the name; null if there is none. */
        StoredFile find(String name, FileRole role) throws IOException;
    }

    /**
     * Checks an implementation.
     *
     * @param finder null if there is no way to look; then it is not checked that files are hidden and removed
     * @throws AssertionError if the implementation breaks a promise; the message has the call and what is wrong
     */
    public static void check(Factory factory, Finder finder) {
        Objects.requireNonNull(factory, "factory");
        DestinationCheck check = new DestinationCheck(factory, finder);
        for (int size : SIZES) {
            check.checkContent(size);
        }
        check.checkReplacing();
        check.checkGivenUp();
        check.checkRaces();
    }

    private interface Call<T> {
        T make() throws Exception;
    }

    private interface Step {
        void run() throws Exception;
    }

    /** Makes a call that must not fail. */
    private static <T> T succeed(String call, Call<T> action) {
        try {
            T result = action.make();
            require(result != null, call, "returned null");
            return result;
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new AssertionError(call + " failed: " + e, e);
        }
    }

    private static void run(String call, Step action) {
        succeed(call, () -> {
            action.run();
            return true;
        });
    }

    private static void require(boolean right, String call, String wrong) {
        if (!right) {
            throw new AssertionError(call + " " + wrong);
        }
    }

    private String nextName() {
        return "check-" + number++;
    }

    private NewFile create(String name, FileRole role, boolean replace) {
        NewFile file = succeed("create(" + role + ", " + replace + ")",
                () -> factory.make(name).create(role, replace));
        succeed("name()", file::name);
        return file;
    }

    /**
     * Asks whether a name exists. A destination need not know that it does; it must not say so of one that does not.
     */
    private void asks(String name, FileRole role, boolean exists, String when) {
        String call = "taken(" + role + ") " + when;
        Optional<String> taken = succeed(call, () -> factory.make(name).taken(role));
        require(exists || taken.isEmpty(), call, "returned " + taken);
    }

    private byte[] content(int size) {
        byte[] bytes = new byte[size];
        random.nextBytes(bytes);
        return bytes;
    }

    /** Appends bytes in pieces, and overwrites each piece afterwards. */
    private void append(NewFile file, byte[] bytes) {
        int at = 0;
        while (at < bytes.length) {
            int count = Math.min(bytes.length - at, 1 + random.nextInt(100_000));
            int margin = random.nextInt(3);
            ByteBuffer piece = ByteBuffer.allocateDirect(margin + count + margin);
            piece.put(margin, bytes, at, count);
            run("append(" + count + " bytes)",
                    () -> file.append(piece.duplicate().position(margin).limit(margin + count).asReadOnlyBuffer()));
            for (int i = 0; i < piece.capacity(); i++) {
                piece.put(i, (byte) 0x5A);
            }
            at += count;
        }
    }

    private void checkContent(int size) {
        String name = nextName();
        List<byte[]> contents = new ArrayList<>();
        List<NewFile> files = new ArrayList<>();
        for (FileRole role : PAIR) {
            asks(name, role, false, "before create");
            NewFile file = create(name, role, false);
            byte[] bytes = content(size);
            append(file, bytes);
            asks(name, role, false, "before publish");
            if (role == FileRole.DATA) {
                run("sync()", file::sync);
            }
            hidden(name, role, "before publish");
            contents.add(bytes);
            files.add(file);
        }
        for (int i = 0; i < PAIR.length; i++) {
            NewFile file = files.get(i);
            run("publish(false)", () -> file.publish(false));
            StoredFile opened = succeed("open()", file::open);
            found(name, PAIR[i], contents.get(i), "after publish");
            asks(name, PAIR[i], true, "after publish");
            asks(name, FileRole.SINGLE, false, "after publish of a pair");
            run("close() of a published file", file::close);
            run("close() of a closed file", file::close);
            // The reader's file is used after the writer's is closed.
            StoredFileCheck.check(opened, ByteBuffer.wrap(contents.get(i)));
            run("close() of the opened file", opened::close);
            found(name, PAIR[i], contents.get(i), "after close");
        }
        for (int i = PAIR.length - 1; i >= 0; i--) {
            run("remove() of a published and closed file", files.get(i)::remove);
            hidden(name, PAIR[i], "after remove");
        }
    }

    private void hidden(String name, FileRole role, String when) {
        if (finder != null) {
            try (StoredFile file = finder.find(name, role)) {
                require(file == null, "find(" + role + ")", "found a file " + when);
            } catch (IOException e) {
                throw new AssertionError("find(" + role + ") failed: " + e, e);
            }
        }
    }

    private void found(String name, FileRole role, byte[] expected, String when) {
        if (finder != null) {
            String call = "find(" + role + ") " + when;
            try (StoredFile file = succeed(call, () -> finder.find(name, role))) {
                ByteBuffer bytes = ByteBuffer.allocate(expected.length + 1);
                file.readRanges(List.of(new RangeRead(0, bytes)));
                require(bytes.flip().equals(ByteBuffer.wrap(expected)), call, "has other bytes");
            } catch (IOException e) {
                throw new AssertionError(call + " failed: " + e, e);
            }
        }
    }

    private NewFile written(String name, byte[] bytes) {
        return written(name, bytes, false);
    }

    private NewFile written(String name, byte[] bytes, boolean replace) {
        NewFile file = create(name, FileRole.INDEX, replace);
        append(file, bytes);
        return file;
    }

    private void checkReplacing() {
        String name = nextName();
        byte[] first = content(1000);
        byte[] second = content(2000);
        // Made before the first is published: from then on, the destination may refuse the name at once.
        NewFile refused = written(name, content(500));
        NewFile replaced = written(name, first);
        NewFile replacing = written(name, second, true);
        run("publish(false)", () -> replaced.publish(false));
        try {
            refused.publish(false);
            throw new AssertionError("publish(false) replaced an existing file");
        } catch (FileAlreadyExistsException e) {
            found(name, FileRole.INDEX, first, "after a refused publish");
        } catch (IOException e) {
            throw new AssertionError("publish(false) did not say that the name exists: " + e, e);
        }
        run("remove() of a refused file", refused::remove);
        found(name, FileRole.INDEX, first, "after a refused file was removed");
        run("publish(true)", () -> replacing.publish(true));
        found(name, FileRole.INDEX, second, "after publish(true)");
        run("remove() of a replaced file", replaced::remove);
        found(name, FileRole.INDEX, second, "after the replaced file was removed");
        run("remove() of a published file", replacing::remove);
        hidden(name, FileRole.INDEX, "after remove");
        asks(name, FileRole.INDEX, false, "after remove");
        for (NewFile file : List.of(refused, replaced, replacing)) {
            run("remove() again", file::remove);
            run("close()", file::close);
        }
    }

    private void checkGivenUp() {
        String name = nextName();
        NewFile removed = written(name, content(1000));
        run("remove()", removed::remove);
        run("remove() again", removed::remove);
        hidden(name, FileRole.INDEX, "after remove");
        run("close() of a removed file", removed::close);
        NewFile closed = written(name, content(1000));
        run("close()", closed::close);
        run("close() again", closed::close);
        hidden(name, FileRole.INDEX, "after an unpublished file was closed");
        NewFile later = written(name, content(10));
        run("publish(false) after others were given up", () -> later.publish(false));
        run("remove()", later::remove);
        run("close()", later::close);
    }

    /** Several threads publish one name. */
    private void checkRaces() {
        for (int round = 0; round < 20; round++) {
            String name = nextName();
            List<NewFile> files = new ArrayList<>();
            List<Thread> threads = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>();
            AtomicInteger published = new AtomicInteger();
            CountDownLatch ready = new CountDownLatch(WRITERS);
            for (int i = 0; i < WRITERS; i++) {
                NewFile file = written(name, content(100));
                files.add(file);
                threads.add(new Thread(() -> {
                    try {
                        ready.countDown();
                        ready.await();
                        file.publish(false);
                        published.incrementAndGet();
                    } catch (FileAlreadyExistsException e) {
                        // All but one.
                    } catch (Throwable e) {
                        synchronized (failures) {
                            failures.add(e);
                        }
                    }
                }, "destination check " + i));
            }
            threads.forEach(Thread::start);
            for (Thread thread : threads) {
                run("waiting for threads", thread::join);
            }
            String call = "publish(false) by " + WRITERS + " threads";
            require(failures.isEmpty(), call, "failed: " + failures);
            require(published.get() == 1, call, "succeeded " + published.get() + " times");
            for (NewFile file : files) {
                run("remove()", file::remove);
                run("close()", file::close);
            }
        }
    }
}
