package dev.faro.internal.message;

/** The ids of the fields of the schema's tables, for {@link TableView}. */
public final class Fields {
    /** {@code Region.sequence}. */
    public static final int REGION_SEQUENCE = 0;
    /** {@code Region.data_offset}. */
    public static final int REGION_DATA_OFFSET = 1;
    /** {@code Region.data_length}. */
    public static final int REGION_DATA_LENGTH = 2;
    /** {@code Region.offsets}. */
    public static final int REGION_OFFSETS = 3;
    /** {@code Region.rotation}. */
    public static final int REGION_ROTATION = 4;
    /** {@code Region.partitions}. */
    public static final int REGION_PARTITIONS = 5;
    /** {@code Region.shared}. */
    public static final int REGION_SHARED = 6;
    /** {@code Region.runs}. */
    public static final int REGION_RUNS = 7;
    /** {@code Region.first_block}. */
    public static final int REGION_FIRST_BLOCK = 8;
    /** {@code SharedExtent.length}. */
    public static final int SHARED_LENGTH = 0;
    /** {@code SharedExtent.members}. */
    public static final int SHARED_MEMBERS = 1;
    /** {@code SharedExtent.first_block}. */
    public static final int SHARED_FIRST_BLOCK = 2;
    /** {@code Footer.regions}. */
    public static final int FOOTER_REGIONS = 0;
    /** {@code Footer.data_size}. */
    public static final int FOOTER_DATA_SIZE = 1;
    /** {@code Footer.statistics}. */
    public static final int FOOTER_STATISTICS = 2;
    /** {@code Footer.properties}. */
    public static final int FOOTER_PROPERTIES = 3;
    /** {@code Footer.created_by}. */
    public static final int FOOTER_CREATED_BY = 4;
    /** {@code Footer.dictionaries}. */
    public static final int FOOTER_DICTIONARIES = 5;
    /** {@code Footer.streams}. */
    public static final int FOOTER_STREAMS = 6;
    /** {@code Streams.next}. */
    public static final int STREAMS_NEXT = 0;
    /** {@code Streams.missing}. */
    public static final int STREAMS_MISSING = 1;
    /** {@code Streams.shared_next}. */
    public static final int STREAMS_SHARED_NEXT = 2;
    /** {@code Streams.shared_missing}. */
    public static final int STREAMS_SHARED_MISSING = 3;
    /** {@code Statistics.stored}. */
    public static final int STATISTICS_STORED = 0;
    /** {@code Statistics.plain}. */
    public static final int STATISTICS_PLAIN = 1;
    /** {@code Statistics.records}. */
    public static final int STATISTICS_RECORDS = 2;
    /** {@code Statistics.stored_to_all}. */
    public static final int STATISTICS_STORED_TO_ALL = 3;
    /** {@code Statistics.plain_to_all}. */
    public static final int STATISTICS_PLAIN_TO_ALL = 4;
    /** {@code Statistics.records_to_all}. */
    public static final int STATISTICS_RECORDS_TO_ALL = 5;
    /** {@code Property.key}. */
    public static final int PROPERTY_KEY = 0;
    /** {@code Property.value}. */
    public static final int PROPERTY_VALUE = 1;
    /** {@code Schema.arrow}. */
    public static final int SCHEMA_ARROW = 0;

    private Fields() {}
}
