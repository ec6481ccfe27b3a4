package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.Limits;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HashMap;
import java.util.Map;

/** A model of {@code rebuild} on a data file, written from HDR-1, REP-9, REP-7, REP-5, REP-6, DIC-4 and BLK-7. */
final class DataModel {
    private static final long MAGIC = 0x1A0A0D4F52414689L;
    private static final long U32 = 0xFFFFFFFFL;

    private final byte[] file;
    private final ByteBuffer bytes;
    private final Limits limits;
    private final Map<Long, Long> next = new HashMap<>();
    private int regions;
    private int dictionaries;
    private String result;

    private DataModel(byte[] file, Limits limits) {
        this.file = file;
        this.bytes = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
        this.limits = limits;
    }

    static DataModel of(byte[] file, Limits limits) throws FaroException {
        DataModel model = new DataModel(file, limits);
        model.result = model.header();
        if (model.result == null) {
            model.result = model.blocks();
        }
        return model;
    }

    /** The expected result: {@code CODE at OFFSET}, or what is kept. */
    String result() {
        return result;
    }

    private String header() {
        for (int i = 0; i < Math.min(8, file.length); i++) {
            if ((file[i] & 0xFF) != (MAGIC >>> 8 * i & 0xFF)) {
                return "not-faro at 0";
            }
        }
        if (file.length < Seal.HEADER) {
            return "truncated at " + file.length;
        }
        if (Seal.crc(file, 0, 60) != bytes.getInt(60)) {
            return "checksum at 0";
        }
        if (file[9] != 1) {
            return "unsupported-version at 9";
        }
        if ((u32(16) & ~3L) != 0) {
            return "unsupported-feature at 16";
        }
        if (file[8] == 4) {
            return "unsupported-feature at 8";
        }
        if (file[8] < 1 || file[8] > 3 && file[8] != 5) {
            return "malformed-header at 8";
        }
        if (file[11] < 0 || file[11] > 2) {
            return "malformed-header at 11";
        }
        if (u32(12) < 1 || u32(12) > 1 << 28) {
            return "malformed-header at 12";
        }
        if (u32(56) + u32(12) > 1 << 28) {
            return "malformed-header at 56";
        }
        if (file[8] != 1) {
            return "mismatched-pair at 8";
        }
        if (u32(20) != 0) {
            return "unsupported-feature at 20";
        }
        return file[11] == 2 ? "invalid-argument at -1" : null;
    }

    private String blocks() throws FaroException {
        int at = Seal.HEADER;
        int kept = at;
        int count = 0;
        int orphaned = 0;
        RegionModel region = new RegionModel(at);
        String fault = at < file.length ? fault(at) : "end";
        while (fault == null) {
            if (isDictionary(at)) {
                if (!close(region)) {
                    return "limit-exceeded at " + region.begin();
                }
                dictionaries++;
                at += (int) (Seal.BLOCK + Seal.pad8(u32(at)));
                region = new RegionModel(at);
                fault = at < file.length ? fault(at) : "end";
                continue;
            }
            long partition = u32(at + 8);
            long size = Seal.BLOCK + Seal.pad8(u32(at));
            next.put(partition, u32(at + 12) + 1);
            if (region.endsBefore(partition) && !close(region)) {
                return "limit-exceeded at " + region.begin();
            }
            region = region.endsBefore(partition) ? new RegionModel(at) : region;
            region.add(partition, u32(at + 12), size);
            orphaned += partition == U32 ? 1 : 0;
            at += (int) size;
            kept = at;
            count++;
            fault = at < file.length ? fault(at) : "end";
        }
        if (fault.startsWith("limit-exceeded") || fault.startsWith("unsupported-codec")) {
            return fault;
        }
        if (!close(region)) {
            return "limit-exceeded at " + region.begin();
        }
        return "regions " + regions + " blocks " + count + " kept " + kept + " cut " + (file.length - kept)
                + " orphaned " + orphaned;
    }

    /** Closes a region; returns whether a reader with these limits would accept it (REP-6). */
    private boolean close(RegionModel region) throws FaroException {
        if (region.isEmpty()) {
            return true;
        }
        int size = region.messageSize(regions, u32(56), (int) u32(12), (u32(16) & 1) != 0);
        return regions++ < limits.maxRegions() && size <= limits.maxMessageSize();
    }

    private boolean isDictionary(int at) {
        return (file[16] & 2) != 0 && file.length - at >= Seal.BLOCK && (file[at + 16] & 0xFF) == 131;
    }

    /** The first fault by DIC-5 or by the checks of DIC-4; null if there is none. */
    private String dictionaryFault(int at) {
        if (dictionaries >= limits.maxDictionaries()) {
            return "limit-exceeded at " + at;
        }
        long stored = u32(at);
        if (Seal.BLOCK + Seal.pad8(stored) > file.length - at) {
            return "damage";
        }
        if (stored > limits.maxDictionarySize()) {
            return "limit-exceeded at " + at;
        }
        if (Seal.block(file, at, (int) stored) != bytes.getInt(at + 20)) {
            return "damage";
        }
        if ((file[at + 17] & 0xFF) > 2) {
            return "unsupported-codec at " + (at + 17);
        }
        boolean right = file[at + 17] == 0 && u32(at + 4) == stored && u32(at + 8) == U32
                && u32(at + 12) == dictionaries && (bytes.getShort(at + 18) & 0xFFFF) == dictionaries + 1;
        boolean begins = stored >= 8 && bytes.getInt(at + Seal.BLOCK) == 0xEC30A437;
        return right && begins && padded(at, (int) stored) ? null : "damage";
    }

    /**
     * The first check of BLK-7 that fails, without check 12; null if none does. Damage is reported without an offset.
     */
    private String fault(int at) {
        if (isDictionary(at)) {
            return dictionaryFault(at);
        }
        long left = file.length - at;
        if (left < Seal.BLOCK || Seal.BLOCK + Seal.pad8(u32(at)) > left) {
            return "damage";
        }
        long stored = u32(at);
        long plain = u32(at + 4);
        if (stored > limits.maxBlockSize()) {
            return "limit-exceeded at " + at;
        }
        int kind = file[at + 16] & 0xFF;
        int codec = file[at + 17] & 0xFF;
        boolean right = Seal.block(file, at, (int) stored) == bytes.getInt(at + 20)
                && (kind <= 1 || kind >= 64 && kind < 128);
        int number = bytes.getShort(at + 18) & 0xFFFF;
        if (!right || number != 0 && (file[16] & 2) == 0) {
            return "damage";
        }
        if (codec > 2) {
            return "unsupported-codec at " + (at + 17);
        }
        boolean sized = codec == 0 ? stored == plain : kind == 0 && stored < plain;
        boolean allowed = number == 0 || codec == 2 && kind == 0;
        if (!allowed || !sized || kind == 0 && plain < 1) {
            return "damage";
        }
        if (plain > limits.maxPlainSize()) {
            return "limit-exceeded at " + (at + 4);
        }
        return inStream(at) && number <= dictionaries && padded(at, (int) stored) ? null : "damage";
    }

    private boolean inStream(int at) {
        long partition = u32(at + 8);
        boolean shared = partition == U32;
        boolean known = shared || partition >= u32(56) && partition < u32(56) + u32(12);
        long expected = next.getOrDefault(partition, 0L);
        boolean selective = (u32(16) & 1) != 0;
        return known && (selective ? u32(at + 12) >= expected : u32(at + 12) == expected);
    }

    private boolean padded(int at, int stored) {
        for (int i = stored; i < Seal.pad8(stored); i++) {
            if (file[at + Seal.BLOCK + i] != 0) {
                return false;
            }
        }
        return true;
    }

    private long u32(int at) {
        return bytes.getInt(at) & U32;
    }
}
