package dev.faro.spark;

/** Checksums of the records by partition, which do not depend on their order. Spark compares those of two attempts. */
interface RowChecksums {
    /** For a shuffle, or a line of Spark, that has none. */
    RowChecksums NONE = new RowChecksums() {
        @Override
        public void update(int partition, Object key, Object value) {}

        @Override
        public long value() {
            return 0;
        }
    };

    void update(int partition, Object key, Object value);

    /** The sum over all partitions, for the status of the map task. */
    long value();
}
