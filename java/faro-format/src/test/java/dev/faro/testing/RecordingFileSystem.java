package dev.faro.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.AccessMode;
import java.nio.file.CopyOption;
import java.nio.file.DirectoryStream;
import java.nio.file.FileStore;
import java.nio.file.FileSystem;
import java.nio.file.FileSystemException;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.nio.file.StandardOpenOption;
import java.nio.file.WatchService;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.FileAttributeView;
import java.nio.file.attribute.UserPrincipalLookupService;
import java.nio.file.spi.FileSystemProvider;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * The default file system, which records every write, sync and rename. It can refuse a call, or make all reads and
 * writes in small pieces. Syncs do not reach the device, because that would take long.
 */
public final class RecordingFileSystem extends FileSystem {
    private Step beforeOpening;
    private Step afterOpening;
    private final Provider provider = new Provider();
    private final List<String> calls = new ArrayList<>();
    private int refused = -1;
    private boolean refusedOnwards;
    private int interrupted = -1;
    private int interruptedBefore = -1;
    private boolean removing = true;
    private Random pauses;
    private int longest;
    private boolean links = true;
    private String linkRefusal;
    private String awaited;
    private Step first;
    private boolean locks = true;
    private int reads;
    private int refusedRead = -1;
    private int interruptedRead = -1;
    private int opened;
    private final Map<String, Long> bytesRead = new ConcurrentHashMap<>();
    private String unreadable;
    private final Pieces pieces = new Pieces();
    private volatile Hook hook = call -> {};

    /** An action at calls of open files, other than writes. */
    public interface Hook {
        /** Called before a call, {@code read}, {@code size} or {@code release} of a lock, is made. */
        void before(String call) throws IOException;
    }

    /** Sets the action at each such call. */
    public void hook(Hook action) {
        hook = action;
    }

    /** Announces a call to the hook. */
    public void tell(String call) throws IOException {
        hook.before(call);
    }

    /** The path of this file system for a path of the default one. */
    public Path path(Path real) {
        return (Path) Proxy.newProxyInstance(
                Path.class.getClassLoader(), new Class<?>[] {Path.class},
                (proxy, method, arguments) -> {
                    if (method.getName().equals("getFileSystem")) {
                        return this;
                    }
                    Object[] passed = arguments == null ? null : arguments.clone();
                    for (int i = 0; passed != null && i < passed.length; i++) {
                        passed[i] = passed[i] instanceof Path ? real((Path) passed[i]) : passed[i];
                    }
                    try {
                        Object result = method.invoke(real, passed);
                        return result instanceof Path ? path((Path) result) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }

    private static Path real(Path path) {
        return Path.of(path.toString());
    }

    /** Clears the recorded calls, and refuses the call with that number, counted from 0; -1 refuses none. */
    public void refuse(int number) {
        calls.clear();
        refused = number;
        refusedOnwards = false;
        interrupted = -1;
        interruptedBefore = -1;
    }

    /** The same for that call and all later ones. */
    public void refuseFrom(int number) {
        refuse(number);
        refusedOnwards = true;
    }

    /** The calls so far. */
    public List<String> calls() {
        return calls;
    }

    /** Records a call, or refuses it. */
    public void admit(String call, Path path) throws IOException {
        if (!isAdmitted(call, path)) {
            throw new IOException("refused");
        }
    }

    /** Runs a step once, right before the next call with that text. */
    public void before(String call, Step step) {
        awaited = call;
        first = step;
    }

    /** Makes each link and each rename wait first, for a random time, so that others come in between. */
    public void pause(Random drawn, int maxNanoseconds) {
        pauses = drawn;
        longest = maxNanoseconds;
    }

    /** A step for {@link #before}. */
    public interface Step {
        void run() throws IOException;
    }

    /** Runs a step before the next file is opened, and another one after it. */
    public void aroundOpening(Step before, Step after) {
        beforeOpening = before;
        afterOpening = after;
    }

    /** Records a call; returns false if it is to be refused. */
    public boolean isAdmitted(String call, Path path) {
        if ((call + " " + path.getFileName()).equals(awaited)) {
            awaited = null;
            try {
                first.run();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        if (pauses != null && call.endsWith(" to")) {
            LockSupport.parkNanos(pauses.nextInt(longest));
        }
        if (calls.size() == interruptedBefore) {
            Thread.currentThread().interrupt();
        }
        calls.add(call + " " + path.getFileName());
        return refusedOnwards ? calls.size() - 1 < refused : calls.size() - 1 != refused;
    }

    /** Clears the recorded calls, and interrupts the thread inside the call with that number if it is a sync. */
    public void interrupt(int number) {
        refuse(-1);
        interrupted = number;
    }

    /** Clears the recorded calls, and interrupts the thread right before the call with that number, whatever it is. */
    public void interruptBefore(int number) {
        refuse(-1);
        interruptedBefore = number;
    }

    public boolean isInterruptedAtNext() {
        return calls.size() == interrupted;
    }

    /** Sets whether files can be removed. */
    public void removing(boolean can) {
        removing = can;
    }

    /** Sets whether files can have second names. */
    public void links(boolean can) {
        links = can;
    }

    /** Sets the system's message for every link; null to make links. */
    public void refuseLinks(String reason) {
        linkRefusal = reason;
    }

    /** Sets whether files can be locked. */
    public void locks(boolean can) {
        locks = can;
    }

    public boolean hasLocks() {
        return locks;
    }

    /** Counts reads from here on, and refuses the one with that number; -1 refuses none. */
    public void refuseRead(int number) {
        reads = 0;
        refusedRead = number;
        interruptedRead = -1;
    }

    /** Counts reads from here on, and interrupts the thread inside the one with that number. */
    public void interruptRead(int number) {
        refuseRead(-1);
        interruptedRead = number;
    }

    /** The number of files opened so far. */
    public int opened() {
        return opened;
    }

    /** The number of reads so far. */
    public int reads() {
        return reads;
    }

    /** The number of bytes read so far from files with that name. */
    public long bytesRead(String name) {
        return bytesRead.getOrDefault(name, 0L);
    }

    /** Adds the bytes of a read. */
    public void addRead(Path path, int count) {
        bytesRead.merge(path.getFileName().toString(), (long) count, Long::sum);
    }

    /** Refuses a read if it is its turn. */
    public void admitRead() throws IOException {
        if (reads == interruptedRead) {
            Thread.currentThread().interrupt();
        }
        // The count stops before the limit of an int: a read that is repeated without end would be refused otherwise.
        reads = Math.min(reads + 1, Integer.MAX_VALUE - 1);
        if (reads - 1 == refusedRead) {
            throw new IOException("refused");
        }
    }

    /** Refuses to open a file with that name for reading; null refuses none. */
    public void unreadable(String name) {
        unreadable = name;
    }

    /** The size of reads and writes. */
    public Pieces pieces() {
        return pieces;
    }

    /** The size of reads and writes. */
    public static final class Pieces {
        private int maxBytes = Integer.MAX_VALUE;
        private int idleOf = 1;
        private int calls;

        /**
         * Limits each later call to a number of bytes, and makes only some calls do anything.
         *
         * @param every 1 for each call, 2 for each second call, ...; 0 for none
         */
        public void set(int bytes, int every) {
            maxBytes = bytes;
            idleOf = every;
        }

        /** The bytes for a call to handle, as a view; none if the call is to be idle. */
        ByteBuffer of(ByteBuffer whole) {
            boolean idle = idleOf == 0 || calls++ % idleOf != 0;
            return whole.duplicate().limit(whole.position() + (idle ? 0 : Math.min(maxBytes, whole.remaining())));
        }
    }

    @Override
    public FileSystemProvider provider() {
        return provider;
    }

    @Override
    public void close() {}

    @Override
    public boolean isOpen() {
        return true;
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public String getSeparator() {
        return "/";
    }

    @Override
    public Path getPath(String first, String... more) {
        return path(Path.of(first, more));
    }

    @Override
    public Iterable<Path> getRootDirectories() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Iterable<FileStore> getFileStores() {
        throw new UnsupportedOperationException();
    }

    @Override
    public Set<String> supportedFileAttributeViews() {
        throw new UnsupportedOperationException();
    }

    @Override
    public PathMatcher getPathMatcher(String syntaxAndPattern) {
        throw new UnsupportedOperationException();
    }

    @Override
    public UserPrincipalLookupService getUserPrincipalLookupService() {
        throw new UnsupportedOperationException();
    }

    @Override
    public WatchService newWatchService() {
        throw new UnsupportedOperationException();
    }

    /** Passes on what a writer and a reader use. */
    private final class Provider extends FileSystemProvider {
        private FileSystemProvider system(Path path) {
            return real(path).getFileSystem().provider();
        }

        @Override
        public FileChannel newFileChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) throws IOException {
            opened++;
            if (path.getFileName().toString().equals(unreadable) && options.contains(StandardOpenOption.READ)) {
                throw new AccessDeniedException(path.toString());
            }
            Step before = beforeOpening;
            Step after = afterOpening;
            beforeOpening = null;
            afterOpening = null;
            if (before != null) {
                before.run();
            }
            FileChannel channel = FileChannel.open(real(path), options, attributes);
            if (after != null) {
                after.run();
            }
            return new RecordingChannel(RecordingFileSystem.this, real(path), channel);
        }

        @Override
        public void move(Path source, Path target, CopyOption... options) throws IOException {
            admit("rename to", target);
            system(source).move(real(source), real(target), options);
        }

        @Override
        public void createLink(Path link, Path existing) throws IOException {
            if (!links) {
                throw new UnsupportedOperationException();
            }
            admit("link to", link);
            if (linkRefusal != null) {
                throw new FileSystemException(link.toString(), existing.toString(), linkRefusal);
            }
            system(existing).createLink(real(link), real(existing));
        }

        @Override
        public void delete(Path path) throws IOException {
            if (!removing) {
                throw new AccessDeniedException(path.toString());
            }
            system(path).delete(real(path));
        }

        @Override
        public void checkAccess(Path path, AccessMode... modes) throws IOException {
            system(path).checkAccess(real(path), modes);
        }

        @Override
        public <A extends BasicFileAttributes> A readAttributes(Path path, Class<A> type, LinkOption... options)
                throws IOException {
            return system(path).readAttributes(real(path), type, options);
        }

        @Override
        public String getScheme() {
            return "recording";
        }

        @Override
        public FileSystem newFileSystem(URI uri, Map<String, ?> environment) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileSystem getFileSystem(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Path getPath(URI uri) {
            throw new UnsupportedOperationException();
        }

        @Override
        public SeekableByteChannel newByteChannel(
                Path path, Set<? extends OpenOption> options, FileAttribute<?>... attributes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public DirectoryStream<Path> newDirectoryStream(Path folder, DirectoryStream.Filter<? super Path> filter) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void createDirectory(Path folder, FileAttribute<?>... attributes) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void copy(Path source, Path target, CopyOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isSameFile(Path path, Path other) {
            throw new UnsupportedOperationException();
        }

        @Override
        public boolean isHidden(Path path) {
            throw new UnsupportedOperationException();
        }

        @Override
        public FileStore getFileStore(Path path) {
            throw new UnsupportedOperationException();
        }

        @Override
        public <V extends FileAttributeView> V getFileAttributeView(
                Path path, Class<V> type, LinkOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public Map<String, Object> readAttributes(Path path, String attributes, LinkOption... options) {
            throw new UnsupportedOperationException();
        }

        @Override
        public void setAttribute(Path path, String attribute, Object value, LinkOption... options) {
            throw new UnsupportedOperationException();
        }
    }
}
