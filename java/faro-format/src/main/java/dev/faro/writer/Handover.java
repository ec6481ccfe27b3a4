package dev.faro.writer;

import dev.faro.FileHeader;
import dev.faro.internal.index.FooterStatistics;
import dev.faro.internal.message.Directory;
import dev.faro.internal.writer.Committer;

/** What a writer hands over when it has finished, from what it has in memory. */
final class Handover {
    private final Summary summary;

    /**
     * Collects what is to be handed over. The footer is in the files' buffers; they are not closed yet.
     *
     * @param header the header of the index file or single file
     * @param blocks the number of blocks in the regions
     */
    Handover(FileHeader header, OutputFiles files, Directory directory, Committer.WrittenFooter footer, long blocks) {
        long dataBytes = files.data().position();
        long indexBytes = files.index().position();
        if (files.isSingle()) {
            dataBytes = 0;
            for (int i = 0; i < directory.size(); i++) {
                dataBytes += directory.dataLength(i);
            }
            indexBytes -= dataBytes;
        }
        this.summary = new Summary(files.paths(), header.fileId(), directory.size(), blocks, dataBytes, indexBytes,
                FooterStatistics.of(header, footer.message()));
    }

    Summary summary() {
        return summary;
    }
}
