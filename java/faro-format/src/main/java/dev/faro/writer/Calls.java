package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.internal.storage.OutputFile;

/** Whether a writer accepts calls: not after its end or a failure (WRT-6), and few while a region is open (WRT-10). */
final class Calls {
    /** Null until the layout is decided. */
    private OutputFile data;
    private final News news;
    private FaroException failure;
    private boolean regionOpen;
    private WriterState state = WriterState.OPEN;

    private enum WriterState {
        OPEN, FINISHED, ABORTED
    }

    Calls(News news) {
        this.news = news;
    }

    /** The data file or single file exists now; errors without one of their own name it. */
    void opened(OutputFile file) {
        data = file;
    }

    /** Refuses a call if the writer failed or ended, or a region is open. */
    void checkNoRegion() throws FaroException {
        checkUsable();
        if (regionOpen) {
            throw FaroException.invalidArgument("no call while a region writer is open", "an open region writer");
        }
    }

    /** Refuses a call if the writer failed or ended. */
    void checkUsable() throws FaroException {
        if (state != WriterState.OPEN) {
            throw FaroException.invalidArgument("an open writer", state);
        }
        if (failure != null) {
            throw failure.again();
        }
    }

    /** Whether the writer neither failed nor ended. */
    boolean isUsable() {
        return state == WriterState.OPEN && failure == null;
    }

    /** Whether the writer was finished or aborted. */
    boolean hasEnded() {
        return state != WriterState.OPEN;
    }

    void finished() {
        state = WriterState.FINISHED;
    }

    void aborted() {
        state = WriterState.ABORTED;
    }

    void regionBegun() {
        regionOpen = true;
    }

    void regionEnded() {
        regionOpen = false;
    }

    /** Makes a step. If the step throws an exception, the writer fails. */
    void guard(Step step) throws FaroException {
        try {
            step.run();
        } catch (FaroException e) {
            throw fail(e);
        } catch (RuntimeException | Error e) {
            failUnexpectedly(e);
            throw e;
        }
    }

    /** Makes the writer fail with an error; returns the error. */
    FaroException fail(FaroException e) {
        failure = e;
        news.fault(e);
        return e;
    }

    /** Makes the writer fail for a reason that has no code of its own. */
    void failUnexpectedly(Throwable e) {
        String wanted = "to continue writing";
        failure = data == null ? FaroException.io(null, null, wanted, e) : data.failed(wanted, e);
        news.fault(failure);
    }

    /** Adds an error of an abort to the error that made the writer fail, if there is one. */
    void suppress(FaroException e) {
        if (failure != null) {
            failure.addSuppressed(e);
        }
    }
}
