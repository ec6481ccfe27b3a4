package dev.faro.testing;

import dev.faro.FaroException;
import dev.faro.check.Check;
import dev.faro.check.CheckLevel;
import dev.faro.index.Footer;
import dev.faro.index.Statistics;
import dev.faro.index.Streams;
import dev.faro.reader.Reader;
import dev.faro.scheduler.Consumer;
import dev.faro.scheduler.Scheduler;
import dev.faro.scheduler.SchedulerOptions;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** What readers deliver, as texts that can be compared. */
public final class Transcripts {
    private Transcripts() {}

    /** Opens an output, or hands over an open reader. */
    public interface Opening {
        Reader open() throws FaroException;
    }

    /** Everything that can be read from an output in any way, with the faults. */
    public static List<String> of(Opening opening) {
        List<String> all = new ArrayList<>();
        try (Reader reader = opening.open();
                Scheduler scheduler = new Scheduler(SchedulerOptions.DEFAULT)) {
            all.add(reader.header() + " " + reader.regionCount());
            addFooter(reader, all);
            int first = reader.header().firstPartition();
            int end = first + reader.header().partitionCount();
            List<Consumer> consumers = new ArrayList<>();
            for (int partition = first; partition < end; partition++) {
                consumers.add(scheduler.partition(reader, partition));
            }
            for (int partition = first; partition < end; partition++) {
                all.add(partition + ": " + storedBytes(reader, partition));
                all.addAll(Scrambled.transcript(reader.partition(partition)));
                all.addAll(Scrambled.transcript(consumers.get(partition - first)));
            }
            all.addAll(Scrambled.transcript(reader.range(first, end)));
            all.addAll(Scrambled.transcript(reader.all()));
            all.addAll(Scrambled.transcript(reader.byPartition(first, end)));
            for (CheckLevel level : CheckLevel.values()) {
                all.add(check(reader, level));
            }
        } catch (FaroException e) {
            all.add(e.getMessage());
        }
        return all;
    }

    private static void addFooter(Reader reader, List<String> all) {
        Footer footer = reader.footer();
        all.add(footer.dataSize() + " " + footer.properties() + " " + footer.createdBy());
        Statistics statistics = footer.statistics();
        int first = reader.header().firstPartition();
        for (int p = first; statistics != null && p < first + reader.header().partitionCount(); p++) {
            all.add(p + ": " + statistics.records(p) + " " + statistics.plain(p) + " " + statistics.stored(p));
        }
        Streams streams = footer.streams();
        for (int p = first; streams != null && p < first + reader.header().partitionCount(); p++) {
            all.add(p + ": " + streams.next(p) + " " + streams.missing(p));
        }
        if (streams != null) {
            all.add("shared: " + streams.sharedNext() + " " + streams.sharedMissing());
        }
        for (int i = 0; i < reader.dictionaryCount(); i++) {
            all.add("dictionary of " + reader.dictionarySize(i) + " bytes at " + reader.dictionaryOffset(i));
        }
        ByteBuffer schema = reader.schemaMessage();
        if (schema != null) {
            byte[] bytes = new byte[schema.remaining()];
            schema.get(bytes);
            all.add(schema.order() + " " + Arrays.toString(bytes));
        }
    }

    private static String storedBytes(Reader reader, int partition) {
        try {
            return Long.toString(reader.storedBytes(partition));
        } catch (FaroException e) {
            return e.getMessage();
        }
    }

    private static String check(Reader reader, CheckLevel level) {
        try {
            return Check.check(reader, level).toString();
        } catch (FaroException e) {
            return e.getMessage();
        }
    }
}
