package dev.faro.internal.block;

import java.nio.ByteBuffer;

/** Checks of plain payloads (FRM). */
public final class Payloads {
    private Payloads() {}

    /**
     * Counts the records in a data block's payload (FRM-2).
     *
     * @param payload little-endian, read from 0 to its limit
     * @return the number of records, or -1 if the payload does not consist of whole records
     */
    public static long countRecords(ByteBuffer payload) {
        long count = 0;
        long at = 0;
        int end = payload.limit();
        while (at != end) {
            if (end - at < 4) {
                return -1;
            }
            at += 4 + (payload.getInt((int) at) & 0xFFFFFFFFL);
            if (at > end) {
                return -1;
            }
            count++;
        }
        return count;
    }

    /**
     * Whether the bytes begin as an encapsulated Arrow message does (FRM-4).
     *
     * @param bytes little-endian, read from 0 to its limit
     */
    public static boolean isArrowMessage(ByteBuffer bytes) {
        if (bytes.limit() < 8 || bytes.getInt(0) != -1) {
            return false;
        }
        long length = bytes.getInt(4);
        return length >= 8 && length % 8 == 0 && 8 + length <= bytes.limit();
    }
}
