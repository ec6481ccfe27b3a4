package dev.faro.hybrid;

/** A committed region of an image. The lock of the memory guards it. */
final class ImageRegion {
    enum State {
        /** In memory, and it may stay there. */
        STAYING,
        /** In memory until it is written. */
        LEAVING,
        /** Not in memory any more. */
        GONE
    }

    final int number;
    final ImagePart data;
    final ImagePart index;
    /** The partitions that have not read it to its end, in a selective store. */
    int unread;
    State state = State.STAYING;
    /** Whether it is being written; it is not dropped meanwhile. */
    boolean writing;
    boolean written;

    ImageRegion(int number, ImagePart data, ImagePart index, int unread) {
        this.number = number;
        this.data = data;
        this.index = index;
        this.unread = unread;
    }

    /** The size of its blocks in bytes. */
    long bytes() {
        return data.end() - data.start;
    }

    /** The size of its message, as a block of the index file, in bytes. */
    long messageBytes() {
        return index.end() - index.start;
    }
}
