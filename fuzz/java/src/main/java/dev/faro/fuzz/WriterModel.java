package dev.faro.fuzz;

import dev.faro.ErrorCode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A model of what a program writes: which calls are refused, and what each partition reads (WRT, SRT-4, PRT-1). */
final class WriterModel {
    private final Program program;
    private final List<Pieces> contents = new ArrayList<>();
    private final Map<String, String> properties = new HashMap<>();
    private final long[] records;
    private boolean finished;
    private boolean aborted;

    WriterModel(Program program) {
        this.program = program;
        this.records = new long[program.partitionCount];
        for (int i = 0; i < program.partitionCount; i++) {
            contents.add(new Pieces(program.records));
        }
    }

    boolean isFinished() {
        return finished;
    }

    Map<String, String> properties() {
        return properties;
    }

    /** The content of a partition; {@code relative} is its number minus the first partition. */
    Pieces content(int relative) {
        return contents.get(relative);
    }

    long records(int relative) {
        return records[relative];
    }

    /** Executes a call; returns the error that it must report, or null. */
    ErrorCode call(Program.Call call) {
        if (finished || aborted) {
            return call instanceof Program.Abort ? null : ErrorCode.INVALID_ARGUMENT;
        }
        if (call instanceof Program.Put put) {
            return put(put);
        } else if (call instanceof Program.Property property) {
            String before = properties.putIfAbsent(property.key(), property.value());
            return before == null ? null : ErrorCode.INVALID_ARGUMENT;
        } else if (call instanceof Program.Handed handed) {
            return handed(handed);
        }
        finished = call instanceof Program.Finish;
        aborted = call instanceof Program.Abort;
        return null;
    }

    private ErrorCode put(Program.Put put) {
        int[] readers = readers(put.partitions());
        if (put.kind() == 2 || readers == null) {
            return ErrorCode.INVALID_ARGUMENT;
        }
        boolean data = put.kind() == 0;
        long block = put.payload().length + (data && program.records ? 4 : 0);
        if (block > program.maxPlainSize && !(data && !program.records)) {
            return ErrorCode.LIMIT_EXCEEDED;
        }
        for (int reader : readers) {
            contents.get(reader).add(put.kind(), put.payload());
            records[reader] += data ? 1 : 0;
        }
        return null;
    }

    /**
     * The partitions of a call, each once, relative to the first partition; null if the set is empty or not in the
     * file.
     */
    private int[] readers(int[] partitions) {
        int[] readers = partitions == null
                ? java.util.stream.IntStream.range(0, program.partitionCount).toArray()
                : Arrays.stream(partitions).map(p -> p - program.firstPartition).distinct().toArray();
        boolean inside = Arrays.stream(readers).allMatch(reader -> reader < program.partitionCount);
        return inside && readers.length > 0 ? readers : null;
    }

    /** A region with a refused block leaves nothing in the file (WRT-8). */
    private ErrorCode handed(Program.Handed handed) {
        int[] members = null;
        int lastSlot = 0;
        List<int[]> readersOf = new ArrayList<>();
        for (Program.Item item : handed.items()) {
            int[] readers = members;
            if (item.begins()) {
                members = item.all() ? readers(null) : new int[] {0};
                readersOf.add(members);
                continue;
            }
            int size = item.payload().length;
            if (size > program.maxPlainSize || item.kind() == 0 && size == 0) {
                return ErrorCode.INVALID_ARGUMENT;
            }
            if (members == null) {
                int relative = item.partition() - program.firstPartition;
                int slot = (relative + program.partitionCount - program.rotation) % program.partitionCount;
                if (relative >= program.partitionCount || slot < lastSlot) {
                    return ErrorCode.INVALID_ARGUMENT;
                }
                lastSlot = slot;
                readers = new int[] {relative};
            }
            readersOf.add(readers);
        }
        for (int i = 0; i < readersOf.size(); i++) {
            Program.Item item = handed.items().get(i);
            if (!item.begins()) {
                take(item, readersOf.get(i));
            }
        }
        return null;
    }

    private void take(Program.Item item, int[] readers) {
        boolean data = item.kind() == 0;
        byte[] payload = item.payload();
        byte[] record = data && program.records ? Arrays.copyOfRange(payload, 4, payload.length) : payload;
        for (int reader : readers) {
            contents.get(reader).add(item.kind(), record);
            records[reader] += data ? item.records() : 0;
        }
    }
}
