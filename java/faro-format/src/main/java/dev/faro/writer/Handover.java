package dev.faro.writer;

import dev.faro.FaroException;
import dev.faro.FileHeader;
import dev.faro.internal.index.FooterStatistics;
import dev.faro.internal.message.Directory;
import dev.faro.internal.reader.FileSet;
import dev.faro.internal.reader.FinishedReader;
import dev.faro.internal.reader.Opened;
import dev.faro.internal.reader.ReaderNews;
import dev.faro.internal.writer.Committer;
import dev.faro.reader.Reader;
import dev.faro.reader.ReaderOptions;
import java.io.Closeable;
import java.nio.ByteBuffer;
import java.util.List;

/** What a writer hands over when it has finished, from what it has in memory. */
final class Handover {
    private final FileHeader header;
    private final OutputFiles files;
    private final Committer.WrittenFooter footer;
    private final byte[] schema;
    private final List<ByteBuffer> messages;
    private final Summary summary;

    /**
     * Collects what is to be handed over. The footer is in the files' buffers; they are not published yet.
     *
     * @param header the header of the index file or single file
     * @param schema the encapsulated Arrow schema message, or null
     * @param messages the messages of the first regions
     * @param blocks the number of blocks in the regions
     */
    Handover(FileHeader header, OutputFiles files, Directory directory, Committer.WrittenFooter footer, byte[] schema,
            List<ByteBuffer> messages, long blocks) {
        this.header = header;
        this.files = files;
        this.footer = footer;
        this.schema = schema;
        this.messages = messages;
        long dataBytes = files.data().position();
        long indexBytes = files.index().position();
        if (files.isSingle()) {
            dataBytes = 0;
            for (int i = 0; i < directory.size(); i++) {
                dataBytes += directory.dataLength(i);
            }
            indexBytes -= dataBytes;
        }
        this.summary = new Summary(files, header.fileId(), directory.size(), blocks, dataBytes, indexBytes,
                FooterStatistics.of(header, footer.message()));
    }

    Summary summary() {
        return summary;
    }

    /**
     * Opens the output, which was published without closing its files.
     *
     * @throws FaroException {@code limit-exceeded}, as opening by name reports it, or {@code io} if a storage cannot
     *     open what it published; then the files are closed, and the output stays
     */
    Finished open(ReaderOptions options) throws FaroException {
        FileSet opened = null;
        FinishedReader output = null;
        try {
            opened = files.handOver(header);
            Opened opening = Opened.ofWritten(
                    opened, options.limits(), footer.message(), footer.offset(), footer.sequence(), schema);
            output = new FinishedReader(opened, opening, options);
            for (int i = 0; i < messages.size(); i++) {
                output.regions().offer(output.directory(), i, messages.get(i));
            }
            output.tellOpened();
            return new Finished(summary, Reader.of(output));
        } catch (FaroException e) {
            FaroException published = e.again("; the output is finished and published");
            closeAfter(published, output == null ? opened : output);
            throw new ReaderNews(options.listener()).fault(published);
        } catch (RuntimeException | Error e) {
            closeAfter(e, output == null ? opened : output);
            throw e;
        }
    }

    /** Closes the files that were kept open, after something else has failed. */
    void closeAfter(Throwable failure) {
        closeAfter(failure, files.index());
        if (!files.isSingle()) {
            closeAfter(failure, files.data());
        }
    }

    private static void closeAfter(Throwable failure, Closeable opened) {
        if (opened != null) {
            FileSet.closeAfter(failure, opened);
        }
    }
}
