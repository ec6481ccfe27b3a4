package dev.faro.spark;

import dev.faro.codec.Codec;
import java.util.Locale;
import org.apache.spark.SparkConf;

/**
 * The settings of Spark that decide how outputs are written.
 *
 * @param codec of the blocks: none unless {@code spark.shuffle.compress}; else Zstandard if
 *     {@code spark.io.compression.codec} is that, and LZ4 for all others
 * @param level of Zstandard, from {@code spark.io.compression.zstd.level}
 * @param compression of streams that Spark makes: a name of its codecs, or none
 * @param bufferSize the most memory for records of one task, in bytes, from {@code spark.shuffle.faro.bufferSize}
 * @param served whether Spark's external shuffle service serves the outputs, from {@code spark.shuffle.service.enabled}
 */
record Settings(Codec codec, int level, String compression, long bufferSize, boolean served) {
    static final String BUFFER_SIZE = "spark.shuffle.faro.bufferSize";
    /** The largest sort buffer of a writer, in bytes. */
    private static final long MOST_BUFFER = 1L << 33;

    Settings(SparkConf conf) {
        this(codec(conf), conf.getInt("spark.io.compression.zstd.level", 1), compression(conf),
                conf.getSizeAsBytes(BUFFER_SIZE, "64m"), conf.getBoolean("spark.shuffle.service.enabled", false));
    }

    /** What Spark itself compresses streams with. */
    private static String compression(SparkConf conf) {
        return conf.getBoolean("spark.shuffle.compress", true) ? conf.get("spark.io.compression.codec", "lz4") : "none";
    }

    private static Codec codec(SparkConf conf) {
        if (!conf.getBoolean("spark.shuffle.compress", true)) {
            return Codec.NONE;
        }
        String name = conf.get("spark.io.compression.codec", "lz4").toLowerCase(Locale.ROOT);
        return name.equals("zstd") || name.contains("zstdcompressioncodec") ? Codec.ZSTD : Codec.LZ4;
    }

    /** Refuses what would not work, with the setting to change. */
    static void check(SparkConf conf) {
        long bufferSize = new Settings(conf).bufferSize;
        if (bufferSize < 1 || bufferSize > MOST_BUFFER) {
            throw new IllegalArgumentException(
                    BUFFER_SIZE + " has to be from 1 to " + MOST_BUFFER + " bytes, and is " + bufferSize);
        }
        refuse(conf, "spark.io.encryption.enabled", "Faro's shuffle does not encrypt its files");
        if (!conf.getBoolean("spark.shuffle.service.enabled", false)) {
            // What is pushed is the layout for the service. Spark itself does not push without it either.
            refuse(conf, "spark.shuffle.push.enabled", "only with spark.shuffle.service.enabled is anything pushed");
        }
    }

    private static void refuse(SparkConf conf, String key, String reason) {
        if (conf.getBoolean(key, false)) {
            throw new IllegalArgumentException(key + " has to be false with " + FaroShuffleManager.class.getName()
                    + ": " + reason);
        }
    }

    @Override
    public String toString() {
        return "with codec " + codec + ", at most " + bufferSize + " bytes of records in memory for each task"
                + (served ? ", for the external shuffle service" : "");
    }
}
