package dev.faro.hybrid;

import dev.faro.FaroException;
import java.util.List;
import java.util.concurrent.Executor;

/** Writes what is to leave the memory, a region at a time, in the caller's threads. */
final class Spiller implements Resident {
    private enum Work {
        NONE,
        /** The executor has it, and has not begun. It can be taken back: the executor may have no free thread. */
        QUEUED,
        RUNNING,
        /** No work is begun any more. */
        STOPPED
    }

    private final HybridMemory memory;
    private final Image image;
    private final SpillFiles files;
    private final Executor executor;

    /** The lock of the memory guards it. */
    private Work work = Work.NONE;

    Spiller(HybridMemory memory, Image image, SpillFiles files, Executor executor) {
        this.memory = memory;
        this.image = image;
        this.files = files;
        this.executor = executor;
    }

    @Override
    public long staying() {
        return image.staying();
    }

    @Override
    public boolean isRead() {
        return image.isRead();
    }

    @Override
    public boolean giveUp(boolean newest) {
        return image.giveUp(newest);
    }

    @Override
    public void spill() {
        memory.lock.lock();
        try {
            // What had been written before has left already.
            if (work != Work.NONE || !image.hasToWrite()) {
                return;
            }
            work = Work.QUEUED;
            memory.spillBegins();
        } finally {
            memory.lock.unlock();
        }
        try {
            executor.execute(this::run);
        } catch (RuntimeException | Error e) {
            refused(e);
            if (e instanceof Error) {
                throw e;
            }
        }
    }

    /** The store fails, unless its work was taken back. The caller may be the producer of another store. */
    private void refused(Throwable e) {
        if (!begins()) {
            return;
        }
        fail(e);
        done();
        tell();
    }

    /** Whether the work was not taken back; from now on it cannot be. */
    private boolean begins() {
        memory.lock.lock();
        try {
            boolean begins = work == Work.QUEUED;
            work = begins ? Work.RUNNING : work;
            return begins;
        } finally {
            memory.lock.unlock();
        }
    }

    private void run() {
        if (!begins()) {
            return;
        }
        try {
            for (ImageRegion region = take(); region != null; region = take()) {
                files.write(image, region);
            }
        } catch (FaroException e) {
            image.fail(e);
            done();
        } catch (RuntimeException | Error e) {
            fail(e);
            done();
        } finally {
            tell();
        }
    }

    private void fail(Throwable e) {
        image.fail(FaroException.io(null, null, "to spill", e));
    }

    /** The next region to write; if there is none, the work is done. */
    private ImageRegion take() {
        memory.lock.lock();
        try {
            ImageRegion region = image.take();
            if (region == null) {
                done();
            }
            return region;
        } finally {
            memory.lock.unlock();
        }
    }

    private void done() {
        memory.lock.lock();
        try {
            if (work == Work.QUEUED || work == Work.RUNNING) {
                work = Work.NONE;
                memory.spillEnds();
            }
        } finally {
            memory.lock.unlock();
        }
    }

    /** Tells consumers that wait, if the store has failed. */
    private void tell() {
        if (image.hasFailed()) {
            List<Runnable> waiting = image.takeWaiting();
            waiting.forEach(Runnable::run);
        }
    }

    /** Takes back work that has not begun, waits for work that has, and begins none until {@link #resume}. */
    void stop() {
        memory.lock.lock();
        try {
            if (work == Work.QUEUED) {
                done();
            }
            while (work != Work.NONE) {
                memory.await();
            }
            work = Work.STOPPED;
        } finally {
            memory.lock.unlock();
        }
    }

    /** Writes all regions that were not written yet, in this thread, after {@link #stop}. */
    void writeAll() throws FaroException {
        while (true) {
            ImageRegion region;
            memory.lock.lock();
            try {
                image.wantAll();
                region = image.take();
            } finally {
                memory.lock.unlock();
            }
            if (region == null) {
                return;
            }
            files.write(image, region);
        }
    }

    /** Lets spills begin again, after {@link #stop}. */
    void resume() {
        memory.lock.lock();
        try {
            work = Work.NONE;
        } finally {
            memory.lock.unlock();
        }
    }
}
