package dev.faro.message;

/** The ids of the fields of the schema's tables, for {@link TableView}. */
public final class Fields {
    public static final int REGION_SEQUENCE = 0;
    public static final int REGION_DATA_OFFSET = 1;
    public static final int REGION_DATA_LENGTH = 2;
    public static final int REGION_OFFSETS = 3;
    public static final int REGION_ROTATION = 4;
    public static final int REGION_PARTITIONS = 5;
    public static final int REGION_SHARED = 6;
    public static final int REGION_RUNS = 7;
    public static final int REGION_FIRST_BLOCK = 8;

    public static final int SHARED_LENGTH = 0;
    public static final int SHARED_MEMBERS = 1;

    public static final int FOOTER_REGIONS = 0;
    public static final int FOOTER_DATA_SIZE = 1;
    public static final int FOOTER_STATISTICS = 2;
    public static final int FOOTER_PROPERTIES = 3;
    public static final int FOOTER_CREATED_BY = 4;

    public static final int STATISTICS_STORED = 0;
    public static final int STATISTICS_PLAIN = 1;
    public static final int STATISTICS_RECORDS = 2;
    public static final int STATISTICS_STORED_TO_ALL = 3;
    public static final int STATISTICS_PLAIN_TO_ALL = 4;
    public static final int STATISTICS_RECORDS_TO_ALL = 5;

    public static final int PROPERTY_KEY = 0;
    public static final int PROPERTY_VALUE = 1;

    public static final int SCHEMA_ARROW = 0;

    private Fields() {}
}
