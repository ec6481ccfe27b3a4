package dev.faro.key;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.faro.FaroException;
import java.math.BigInteger;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Assigning keys to partitions (KEY). */
class KeyTest {
    private static final BigInteger TWO_TO_64 = BigInteger.ONE.shiftLeft(64);

    private final KeyHash key = new KeyHash();

    private static KeyHash of() {
        return new KeyHash();
    }

    private static void encodes(String expected, KeyHash key) {
        assertEquals(expected, HexFormat.of().formatHex(key.encoded()));
    }

    @Test
    void encoding() throws Exception {
        encodes("00", of().addNull());
        encodes("0100" + "0101", of().add(false).add(true));
        encodes("02feffffffffffffff", of().add(-2));
        encodes("0207" + "00".repeat(7), of().addUnsigned(7));
        encodes("030000000000000080", of().addUnsigned(Long.MIN_VALUE));
        encodes("03ffffffffffffffff", of().add(TWO_TO_64.subtract(BigInteger.ONE)));
        encodes("04000000000000f83f", of().add(1.5));
        encodes("04" + "00".repeat(8), of().add(-0.0));
        encodes("04000000000000f87f", of().add(Double.longBitsToDouble(0xFFF8000000000001L)));
        encodes("0502000000c3bc", of().add("\u00fc"));
        encodes("06020000006162", of().add(new byte[] {'a', 'b'}));
        encodes("07fe" + "ff".repeat(16), of().addDecimal(BigInteger.valueOf(-2), -1));
        String long200 = "06c8000000" + "00".repeat(200);
        encodes(long200 + "00", of().add(new byte[200]).addNull());
    }

    @Test
    void hashesOfTheSpecification() throws Exception {
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
    void valuesThatNoTagCanEncode() {
        assertThrows(FaroException.class, () -> key.add("\ud800"));
        assertThrows(FaroException.class, () -> key.add(TWO_TO_64));
        assertThrows(FaroException.class, () -> key.add(BigInteger.valueOf(Long.MIN_VALUE).subtract(BigInteger.ONE)));
        assertThrows(FaroException.class, () -> key.addDecimal(BigInteger.ONE.shiftLeft(127), 0));
        assertThrows(FaroException.class, () -> key.addDecimal(BigInteger.ONE, 128));
    }

    @Test
    void order() throws Exception {
        List<KeyHash> ascending = List.of(
                of().addNull(), of().addNull().addNull(), of().add(false), of().add(true),
                of().add(-1), of().addUnsigned(7), of().add(7).addNull(), of().add(7).add("x"),
                of().addUnsigned(Long.MIN_VALUE), of().addUnsigned(-1),
                of().add(Double.NEGATIVE_INFINITY), of().add(-0.0), of().add(1.5), of().add(Double.NaN),
                of().add("A"), of().add("a"), of().add("ab"), of().add("\uffff"), of().add("\ud83d\ude00"),
                of().add(new byte[0]), of().add(new byte[] {1, 2, 3}), of().add(new byte[] {-1}),
                of().addDecimal(BigInteger.ONE.shiftLeft(127).negate(), -100),
                of().addDecimal(BigInteger.valueOf(-15), 1), of().addDecimal(BigInteger.valueOf(14), 1),
                of().addDecimal(BigInteger.valueOf(1500), 3), of().addDecimal(TWO_TO_64, 0),
                of().addDecimal(BigInteger.ONE, -100));
        for (int i = 0; i < ascending.size(); i++) {
            for (int j = 0; j < ascending.size(); j++) {
                int found = KeyRanges.compare(ascending.get(i).encoded(), ascending.get(j).encoded());
                assertEquals(Integer.compare(i, j), Integer.signum(found), i + " and " + j);
            }
        }
        assertEquals(0, KeyRanges.compare(of().addDecimal(BigInteger.valueOf(15), 1).encoded(),
                of().addDecimal(BigInteger.valueOf(1500), 3).encoded()));
    }

    @Test
    void ranges() throws Exception {
        byte[] fiveB = of().add(5).add("b").encoded();
        KeyRanges ranges = new KeyRanges(List.of(of().add(5).encoded(), fiveB, of().add("a").encoded()));
        assertEquals(10, ranges.partition(of().addNull().encoded(), 10));
        assertEquals(10, ranges.partition(of().add(true).encoded(), 10));
        assertEquals(10, ranges.partition(of().add(4).encoded(), 10));
        assertEquals(11, ranges.partition(of().addUnsigned(5).encoded(), 10));
        assertEquals(11, ranges.partition(of().add(5).addNull().encoded(), 10));
        assertEquals(12, ranges.partition(fiveB, 10));
        assertEquals(12, ranges.partition(of().add(6).encoded(), 10));
        assertEquals(12, ranges.partition(of().addUnsigned(Long.MIN_VALUE).encoded(), 10));
        assertEquals(12, ranges.partition(of().add(Double.NaN).encoded(), 10));
        assertEquals(13, ranges.partition(of().add("a").encoded(), 10));
        assertEquals(13, ranges.partition(of().add(new byte[] {'a'}).encoded(), 10));
        assertEquals(13, ranges.partition(of().addDecimal(BigInteger.ONE, 0).encoded(), 10));
        byte[] two = of().add(2).encoded();
        assertEquals(2, new KeyRanges(List.of(two, two)).partition(two, 0));
        assertEquals(7, new KeyRanges(List.of()).partition(two, 7));
        assertThrows(FaroException.class, () -> new KeyRanges(List.of(fiveB, two)));
    }
}
