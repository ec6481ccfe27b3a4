package dev.faro;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.key.KeyHash;
import java.math.BigInteger;
import org.junit.jupiter.api.Test;

/** The examples of KEY-2, and keys that must be the same. */
class KeyHashTest {
    private final KeyHash key = new KeyHash();

    @Test
    void examples() {
        assertEquals(0x7bc759f3a16fd092L, key.clear().add(1).hash());
        assertEquals(18, key.partition(0, 64));
        assertEquals(0x562cc27fa1ecdf82L, key.clear().add("1").hash());
        assertEquals(102, key.partition(100, 64));
        assertEquals(0xe934a84adb052768L, key.clear().addNull().hash());
        assertEquals(40, key.partition(0, 64));
        assertEquals(0x40491b5b035f740fL, key.clear().add("faro").add(-1).hash());
        assertEquals(15, key.partition(0, 64));
    }

    @Test
    void sameKeys() throws Exception {
        assertEquals(key.clear().add(0.0).hash(), new KeyHash().add(-0.0).hash());
        assertEquals(key.clear().add(Double.NaN).hash(),
                new KeyHash().add(Double.longBitsToDouble(0xFFF8000000000001L)).hash());
        assertEquals(key.clear().add(-5).hash(), new KeyHash().add(BigInteger.valueOf(-5)).hash());
        assertEquals(key.clear().addUnsigned(-5).hash(),
                new KeyHash().add(BigInteger.ONE.shiftLeft(64).subtract(BigInteger.valueOf(5))).hash());
        assertThrows(FaroException.class, () -> key.add(BigInteger.ONE.shiftLeft(64)));
        assertThrows(FaroException.class, () -> key.addDecimal(BigInteger.ONE, 200));
        key.clear().addDecimal(BigInteger.TEN, 2).add(true).add(new byte[100]).hash();
    }
}
