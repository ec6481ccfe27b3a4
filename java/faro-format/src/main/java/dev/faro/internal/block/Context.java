package dev.faro.internal.block;

import dev.faro.BlockKind;

/**
 * The context of a block, which says what kinds it may have (BLK-7, check 6; CTX-1 to CTX-3).
 *
 * @param data whether data and events are allowed
 * @param region whether region messages are allowed
 * @param footer whether footer messages are allowed
 * @param schema whether schema messages are allowed
 * @param dictionary whether dictionaries are allowed
 * @param skippable whether metadata that a reader may skip is allowed
 * @param fragmentEnd whether the end of a fragment is allowed
 */
public record Context(
        boolean data, boolean region, boolean footer, boolean schema, boolean dictionary, boolean skippable,
        boolean fragmentEnd) {
    /** An own or shared extent. */
    public static final Context EXTENT = new Context(true, false, false, false, false, false);
    /** Only a region message. */
    public static final Context REGION = new Context(false, true, false, false, false, false);
    /** Only a footer message. */
    public static final Context FOOTER = new Context(false, false, true, false, false, false);
    /** Only a schema message. */
    public static final Context SCHEMA = new Context(false, false, false, true, false, false);
    /** Only a dictionary. */
    public static final Context DICTIONARY = new Context(false, false, false, false, true, false);

    /** A context in a file, where no fragment ends. */
    public Context(
            boolean data, boolean region, boolean footer, boolean schema, boolean dictionary, boolean skippable) {
        this(data, region, footer, schema, dictionary, skippable, false);
    }

    /** Whether any metadata is allowed. */
    boolean metadata() {
        return region || footer || schema || dictionary || skippable || fragmentEnd;
    }

    boolean allows(int kind) {
        return switch (kind) {
            case BlockKind.REGION -> region;
            case BlockKind.FOOTER -> footer;
            case BlockKind.SCHEMA -> schema;
            case BlockKind.DICTIONARY -> dictionary;
            case BlockKind.FRAGMENT_END -> fragmentEnd;
            default -> kind >= BlockKind.FIRST_SKIPPABLE ? skippable : data && BlockKind.isPartitionKind(kind);
        };
    }
}
