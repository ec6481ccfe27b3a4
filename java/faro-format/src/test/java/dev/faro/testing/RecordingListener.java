package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.Listener;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Keeps a line for each call; throws an exception if it has one. */
public final class RecordingListener implements Listener {
    public final List<String> lines = new ArrayList<>();
    /** What each call throws; null for nothing. */
    public RuntimeException thrown;

    /** The lines since the last call of this. */
    public List<String> take() {
        List<String> taken = List.copyOf(lines);
        lines.clear();
        return taken;
    }

    private void add(String line) {
        lines.add(line);
        if (thrown != null) {
            throw thrown;
        }
    }

    @Override
    public void regionWritten(String name, int region, long bytes) {
        add("region " + region + " of " + Path.of(name).getFileName() + ", " + bytes);
    }

    @Override
    public void finished(String name, int regions, long bytes) {
        add("finished " + Path.of(name).getFileName() + " with " + regions);
    }

    @Override
    public void opened(String name, int regions, long bytes) {
        add("opened " + Path.of(name).getFileName() + " with " + regions + " of " + bytes);
    }

    @Override
    public void fault(FaroException fault) {
        add("fault " + fault.code());
    }
}
