package dev.faro.fuzz;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The sums of VERDICTS.md: the first 16 hexadecimal digits of a SHA-256. */
final class Sums {
    private static final int DIGITS = 16;

    private Sums() {}

    static MessageDigest digest() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JVM has SHA-256", e);
        }
    }

    static String of(MessageDigest digest) {
        return HexFormat.of().formatHex(digest.digest()).substring(0, DIGITS);
    }

    static String of(byte[] bytes) {
        return of(ByteBuffer.wrap(bytes));
    }

    static String of(ByteBuffer bytes) {
        MessageDigest digest = digest();
        digest.update(bytes.duplicate());
        return of(digest);
    }
}
