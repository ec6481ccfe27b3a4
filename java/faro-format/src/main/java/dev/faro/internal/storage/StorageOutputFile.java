package dev.faro.internal.storage;

import dev.faro.FaroException;
import dev.faro.FileRole;
import dev.faro.storage.Destination;
import dev.faro.storage.NewFile;
import dev.faro.storage.StoredFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.util.Optional;

/** A file of a {@link Destination} to append to. */
public final class StorageOutputFile extends OutputFile {
    private final NewFile file;
    private final String name;
    private boolean gone;

    private StorageOutputFile(FileRole role, NewFile file, ByteBuffer buffer) {
        super(role, buffer, 0);
        this.file = file;
        this.name = file.name();
    }

    /**
     * Makes a new file.
     *
     * @param replace whether it may replace another file when it is published
     * @throws FaroException {@code io}
     */
    public static StorageOutputFile create(FileRole role, Destination destination, boolean replace)
            throws FaroException {
        ByteBuffer buffer = firstBuffer();
        NewFile made = null;
        try {
            made = destination.create(role, replace);
            if (made == null) {
                throw new IOException("the destination returned no file");
            }
            return new StorageOutputFile(role, made, buffer);
        } catch (FileAlreadyExistsException e) {
            throw FaroException.ioInStorage(role, e.getFile(), FinalNames.FREE_NAME, e);
        } catch (IOException e) {
            throw FaroException.ioInStorage(role, null, "a new file", e);
        } catch (RuntimeException | Error e) {
            if (made != null) {
                closeAfter(e, made);
            }
            throw e;
        }
    }

    /**
     * Refuses the name of a role if the destination knows a file of that name.
     *
     * @throws FaroException {@code io}
     */
    public static void checkFree(FileRole role, Destination destination) throws FaroException {
        Optional<String> taken;
        try {
            taken = destination.taken(role);
            if (taken == null) {
                throw new IOException("the destination returned null");
            }
        } catch (IOException e) {
            throw FaroException.ioInStorage(role, null, "to look for a file of that name", e);
        }
        if (taken.isPresent()) {
            String name = taken.get();
            throw FaroException.ioInStorage(role, name, FinalNames.FREE_NAME, new FileAlreadyExistsException(name));
        }
    }

    private static void closeAfter(Throwable error, NewFile made) {
        try {
            made.close();
        } catch (IOException | RuntimeException e) {
            error.addSuppressed(e);
        }
    }

    /** The name for people. */
    public String name() {
        return name;
    }

    @Override
    public FaroException failed(String wanted, Throwable cause) {
        return FaroException.ioInStorage(role(), name, wanted, cause);
    }

    @Override
    protected void write(ByteBuffer source, long offset) throws IOException {
        file.append(source.asReadOnlyBuffer().order(ByteOrder.LITTLE_ENDIAN));
    }

    @Override
    public boolean canCut() {
        return false;
    }

    @Override
    protected void truncate(long size) throws IOException {
        throw new IOException("a storage cannot take back bytes");
    }

    @Override
    protected void force() throws IOException {
        file.sync();
    }

    /**
     * Gives the complete file its name.
     *
     * @throws FaroException {@code io}
     */
    public void publish(boolean replace) throws FaroException {
        try {
            file.publish(replace);
        } catch (FileAlreadyExistsException e) {
            throw failed(FinalNames.FREE_NAME, e);
        } catch (IOException e) {
            throw failed("to give the file its name", e);
        }
    }

    /**
     * Opens the published file.
     *
     * @throws FaroException {@code io}
     */
    public StoredFile open() throws FaroException {
        try {
            StoredFile opened = file.open();
            if (opened == null) {
                throw new IOException("the storage returned no file");
            }
            return opened;
        } catch (IOException e) {
            throw failed("to open the file", e);
        }
    }

    /**
     * Gives the file up. Does nothing the second time.
     *
     * @throws IOException the error of the storage
     */
    public void remove() throws IOException {
        if (!gone) {
            // If it fails, the next call tries it again.
            file.remove();
            gone = true;
        }
    }

    @Override
    protected void closeFile() throws IOException {
        file.close();
    }
}
