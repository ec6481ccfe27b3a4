package dev.faro.internal.message;

import java.nio.ByteBuffer;

/** Checks UTF-8: no surrogates, no overlong forms, nothing above U+10FFFF (MSG-9). */
final class Utf8Rule {
    private Utf8Rule() {}

    static boolean isValid(ByteBuffer bytes, int from, int to) {
        int at = from;
        while (at < to) {
            int first = bytes.get(at) & 0xFF;
            if (first < 0x80) {
                at++;
                continue;
            }
            int length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
            if (first < 0xC2 || first > 0xF4 || to - at < length) {
                return false;
            }
            int second = bytes.get(at + 1) & 0xFF;
            int min = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
            int max = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
            if (second < min || second > max) {
                return false;
            }
            for (int i = 2; i < length; i++) {
                if ((bytes.get(at + i) & 0xC0) != 0x80) {
                    return false;
                }
            }
            at += length;
        }
        return true;
    }
}
