package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.FileKind;
import dev.faro.codec.Encoder;

/** The output of a writer, which is made when its layout is decided (WRT-13). */
final class LateOutput {
    private final Place place;
    private final FileHeader header;
    private final StreamCounters streams;
    private final WriterOptions options;
    private final Encoder encoder;
    private final int blockSize;
    private final Calls calls;
    private final News news;
    private WriterOutput made;

    LateOutput(Place place, FileHeader header, StreamCounters streams, WriterOptions options, Encoder encoder,
            int blockSize, Calls calls, News news) {
        this.place = place;
        this.header = header;
        this.streams = streams;
        this.options = options;
        this.encoder = encoder;
        this.blockSize = blockSize;
        this.calls = calls;
        this.news = news;
    }

    /** Decides the layout; null leaves it open, and looks only whether the names are free (WRT-4). */
    void begin(Layout layout) throws FaroException {
        if (layout == null) {
            place.checkFree();
        } else {
            make(layout);
        }
    }

    /** The output; null until the layout is decided. */
    WriterOutput made() {
        return made;
    }

    /** The output, which becomes a pair if the layout was not decided. */
    WriterOutput get() throws FaroException {
        return made == null ? make(Layout.PAIRED) : made;
    }

    /**
     * The output at the end, which becomes a single file if the layout was not decided and there are few records.
     *
     * @param charged the charges of the records in the sort buffer (SRT-1)
     */
    WriterOutput last(long charged) throws FaroException {
        return made == null ? make(charged <= options.singleBelow ? Layout.SINGLE : Layout.PAIRED) : made;
    }

    private WriterOutput make(Layout layout) throws FaroException {
        FileHeader own = header.withKind(layout == Layout.SINGLE ? FileKind.SINGLE : FileKind.INDEX);
        made = WriterOutput.create(place, layout, own, streams, options, encoder, blockSize, news);
        calls.opened(made.files().data());
        return made;
    }
}
