package dev.faro.hadoop;

import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.UUID;
import org.apache.hadoop.fs.FSDataOutputStream;
import org.apache.hadoop.fs.FileContext;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Options.Rename;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.fs.RawLocalFileSystem;
import org.apache.hadoop.hdfs.protocol.HdfsFileStatus;

/** A file under a temporary name, which a rename publishes. */
final class HadoopNewFile implements NewFile {
    private static final int COPY = 64 << 10;

    private final FileSystem fileSystem;
    private final Path path;
    private final Path temporary;
    private final FSDataOutputStream out;
    private final byte[] copy = new byte[COPY];
    /** What distinguishes this file from others under its name; set before it is published. */
    private Object identity;
    private boolean outClosed;
    private boolean published;
    private boolean closed;

    private HadoopNewFile(FileSystem fileSystem, Path path, Path temporary) throws IOException {
        this.fileSystem = fileSystem;
        this.path = path;
        this.temporary = temporary;
        this.out = fileSystem.create(temporary, false);
    }

    static HadoopNewFile create(FileSystem fileSystem, Path path) throws IOException {
        String name = path.getName() + "." + UUID.randomUUID().toString().replace("-", "") + ".tmp";
        return new HadoopNewFile(fileSystem, path, new Path(path.getParent(), name));
    }

    @Override
    public String name() {
        return path.toString();
    }

    private void checkOpen() throws IOException {
        if (closed || published || outClosed) {
            throw new IOException(path + " is closed or published");
        }
    }

    @Override
    public void append(ByteBuffer bytes) throws IOException {
        checkOpen();
        while (bytes.hasRemaining()) {
            int count = Math.min(COPY, bytes.remaining());
            bytes.get(copy, 0, count);
            out.write(copy, 0, count);
        }
    }

    @Override
    public void sync() throws IOException {
        checkOpen();
        out.hsync();
    }

    @Override
    public void publish(boolean replace) throws IOException {
        checkOpen();
        closeOut();
        identity = identityOf(temporary);
        if (identity == null) {
            throw new IOException("a file system without numbers of files, which tell files from one another: " + temporary);
        }
        if (fileSystem instanceof RawLocalFileSystem local) {
            publishLocal(local.pathToFile(temporary).toPath(), local.pathToFile(path).toPath(), replace);
        } else {
            try {
                FileContext.getFileContext(fileSystem.getUri(), fileSystem.getConf())
                        .rename(temporary, path, replace ? Rename.OVERWRITE : Rename.NONE);
            } catch (org.apache.hadoop.fs.FileAlreadyExistsException e) {
                throw exists(e);
            }
        }
        published = true;
    }

    /** A local rename always replaces; a link does not. */
    private void publishLocal(java.nio.file.Path from, java.nio.file.Path to, boolean replace) throws IOException {
        if (replace) {
            Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
            return;
        }
        try {
            Files.createLink(to, from);
        } catch (FileAlreadyExistsException e) {
            throw exists(e);
        } catch (UnsupportedOperationException e) {
            throw new IOException("a file system without hard links: " + to, e);
        }
        Files.delete(from);
    }

    private FileAlreadyExistsException exists(IOException cause) {
        FileAlreadyExistsException e = new FileAlreadyExistsException(path.toString());
        e.initCause(cause);
        return e;
    }

    private void closeOut() throws IOException {
        if (!outClosed) {
            outClosed = true;
            out.close();
        }
    }

    /** The file's number in its file system, which stays when it is renamed; null if it has none. */
    private Object identityOf(Path which) throws IOException {
        if (fileSystem instanceof RawLocalFileSystem local) {
            return Files.readAttributes(local.pathToFile(which).toPath(), BasicFileAttributes.class).fileKey();
        }
        FileStatus status = fileSystem.getFileStatus(which);
        return status instanceof HdfsFileStatus hdfs ? hdfs.getFileId() : null;
    }

    @Override
    public void remove() throws IOException {
        closed = true;
        try {
            closeOut();
        } catch (IOException e) {
            // The rest of a file that is given up; it may not even be there any more.
        }
        fileSystem.delete(temporary, false);
        // Also after a publish that failed and may have been done nevertheless.
        if (identity != null && isOwn()) {
            fileSystem.delete(path, false);
        }
        identity = null;
        published = false;
    }

    private boolean isOwn() throws IOException {
        try {
            return identity.equals(identityOf(path));
        } catch (FileNotFoundException | java.nio.file.NoSuchFileException e) {
            return false;
        }
    }

    @Override
    public StoredFile open() throws IOException {
        if (published) {
            // First: a file that replaces it later has another status.
            FileStatus status = fileSystem.getFileStatus(path);
            if (isOwn()) {
                return new HadoopFile(fileSystem, status);
            }
        }
        throw new IOException(path + " was not published, or was replaced");
    }

    @Override
    public void close() throws IOException {
        if (!closed && !published) {
            remove();
        }
        closed = true;
    }
}
