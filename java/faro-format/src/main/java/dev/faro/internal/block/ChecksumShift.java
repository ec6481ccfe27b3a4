package dev.faro.internal.block;

/** Moves a state of CRC-32C over zero bytes: a multiplication of polynomials, whatever their number is. */
final class ChecksumShift {
    /** The polynomial with its bits reversed. */
    private static final int POLYNOMIAL = 0x82F63B78;
    /** The polynomial 1. */
    private static final int ONE = 1 << 31;
    /** At [digit][n]: the polynomial for n * 256^digit bytes. */
    private static final int[][] POWERS = powers();

    private ChecksumShift() {}

    /** The state after this many zero bytes. */
    static int over(int state, long bytes) {
        int moved = state;
        for (int digit = 0; digit < POWERS.length; digit++) {
            int number = (int) (bytes >>> 8 * digit & 0xFF);
            if (number > 0) {
                moved = product(moved, POWERS[digit][number]);
            }
        }
        return moved;
    }

    private static int[][] powers() {
        int[][] powers = new int[5][256];
        int base = ONE;
        for (int bit = 0; bit < 8; bit++) {
            base = timesX(base);
        }
        for (int[] digit : powers) {
            digit[0] = ONE;
            for (int n = 1; n < 256; n++) {
                digit[n] = product(digit[n - 1], base);
            }
            base = product(digit[255], base);
        }
        return powers;
    }

    private static int timesX(int polynomial) {
        return polynomial >>> 1 ^ (POLYNOMIAL & -(polynomial & 1));
    }

    private static int product(int a, int b) {
        int product = 0;
        int left = a;
        int right = b;
        for (int bit = 0; bit < 32; bit++) {
            product ^= right & left >> 31;
            left <<= 1;
            right = timesX(right);
        }
        return product;
    }
}
