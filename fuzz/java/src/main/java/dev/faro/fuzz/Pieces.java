package dev.faro.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;

/**
 * The records and events of a partition, piece by piece; with framing opaque, the data between two events is one piece.
 */
final class Pieces {
    private final boolean records;
    private final List<String> pieces = new ArrayList<>();
    private final ByteArrayOutputStream run = new ByteArrayOutputStream();
    private final ByteArrayOutputStream all = new ByteArrayOutputStream();

    Pieces(boolean records) {
        this.records = records;
    }

    void add(int kind, byte[] payload) {
        if (kind == 0 && !records) {
            run.writeBytes(payload);
            all.writeBytes(payload);
            return;
        }
        endRun();
        pieces.add(kind + ":" + HexFormat.of().formatHex(payload));
    }

    /** Adds a block; the payload consists of records if the framing is records. */
    void addBlock(int kind, ByteBuffer payload) {
        ByteBuffer left = payload.duplicate().order(payload.order());
        if (kind != 0 || !records) {
            add(kind, bytes(left, left.remaining()));
            return;
        }
        while (left.hasRemaining()) {
            int length = left.getInt();
            add(kind, bytes(left, length));
        }
    }

    private static byte[] bytes(ByteBuffer from, int length) {
        byte[] bytes = new byte[length];
        from.get(bytes);
        return bytes;
    }

    private void endRun() {
        if (run.size() > 0) {
            pieces.add("0:" + HexFormat.of().formatHex(run.toByteArray()));
            run.reset();
        }
    }

    /**
     * The pieces in order. If the order does not matter: records and events sorted or, with framing opaque, all bytes.
     */
    List<String> normal(boolean ordered) {
        endRun();
        List<String> normal = new ArrayList<>(pieces);
        if (!ordered) {
            if (!records) {
                normal.removeIf(piece -> piece.startsWith("0:"));
                byte[] bytes = all.toByteArray();
                Arrays.sort(bytes);
                normal.add("0:" + HexFormat.of().formatHex(bytes));
            }
            Collections.sort(normal);
        }
        return normal;
    }
}
