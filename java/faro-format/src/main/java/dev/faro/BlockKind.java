package dev.faro;

/** The kinds of blocks (BLK-2). */
public final class BlockKind {
    /** A data block. */
    public static final int DATA = 0;
    /** An event. */
    public static final int EVENT = 1;
    /** The lowest kind of the application's own events. */
    public static final int FIRST_OF_APPLICATION = 64;
    /** The highest kind of the application's own events. */
    public static final int LAST_OF_APPLICATION = 127;
    /** A region message. */
    public static final int REGION = 128;
    /** A footer message. */
    public static final int FOOTER = 129;
    /** A schema message. */
    public static final int SCHEMA = 130;
    /** A dictionary. */
    public static final int DICTIONARY = 131;
    /** The end of a fragment (FRG-3). */
    public static final int FRAGMENT_END = 132;
    /** The lowest kind of metadata that a reader may skip. */
    public static final int FIRST_SKIPPABLE = 192;

    private BlockKind() {}

    /** Whether blocks of this kind are events (BLK-2). */
    public static boolean isEvent(int kind) {
        return kind == EVENT || kind >= FIRST_OF_APPLICATION && kind <= LAST_OF_APPLICATION;
    }

    /** Whether blocks of this kind belong to partitions: data or an event. */
    public static boolean isPartitionKind(int kind) {
        return kind == DATA || isEvent(kind);
    }

    /** Whether blocks of this kind are metadata, known to this library or not. */
    public static boolean isMetadata(int kind) {
        return kind >= REGION;
    }
}
