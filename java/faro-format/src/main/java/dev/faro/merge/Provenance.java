package dev.faro.merge;

import dev.faro.ErrorCode;
import dev.faro.FaroException;
import dev.faro.index.Run;
import dev.faro.internal.block.BlockHeader;
import dev.faro.internal.index.Holdings;
import dev.faro.internal.index.RegionIndex;
import dev.faro.internal.reader.OutputReader;
import dev.faro.reader.PartitionReader;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** Whose blocks a merged file has (MRG-11). A file that is not merged has no runs. */
public final class Provenance {
    private Provenance() {}

    /**
     * The runs of a partition, in order.
     *
     * @param reader a reader, or a follower: then of the regions that it has seen
     * @throws FaroException {@code invalid-argument} for a partition that the file does not have; a fault of REG-10;
     *     {@code inconsistent-index} for runs that contradict each other (MRG-2)
     */
    public static List<PlacedRun> runs(PartitionReader reader, int partition) throws FaroException {
        OutputReader output = reader.output();
        output.checkPartition(partition);
        Holdings holdings = new Holdings();
        List<PlacedRun> found = new ArrayList<>();
        for (int i = 0; i < output.directory().size(); i++) {
            RegionIndex region = output.region(i);
            String broken = holdings.add(region);
            if (broken != null) {
                throw fault(output, i, broken);
            }
            found.addAll(runsOf(region, partition));
        }
        return found;
    }

    /** The fault of a region whose runs break a rule. */
    static FaroException fault(OutputReader output, int region, String broken) {
        return output.files().index().fault(ErrorCode.INCONSISTENT_INDEX,
                output.directory().messageOffset(region) + BlockHeader.SIZE, "runs that obey MRG-2 and MRG-3", broken);
    }

    /** The runs of a partition in a region. */
    static List<PlacedRun> runsOf(RegionIndex region, int partition) {
        List<PlacedRun> found = new ArrayList<>();
        region.forEachRun((whose, offset, run) -> {
            if (whose == partition) {
                found.add(new PlacedRun(region.sequence(), offset, run));
            }
        });
        return found;
    }

    /**
     * What the file has of each producer in a partition, by producer, ascending as unsigned numbers.
     *
     * @throws FaroException as {@link #runs}
     */
    public static List<Have> have(PartitionReader reader, int partition) throws FaroException {
        return List.copyOf(byProducer(runs(reader, partition)).values());
    }

    private static SortedMap<Long, Have> byProducer(List<PlacedRun> runs) {
        SortedMap<Long, Have> found = new TreeMap<>(Long::compareUnsigned);
        for (PlacedRun placed : runs) {
            Run run = placed.run();
            long blocks = run.firstBlock() + run.blocks();
            found.put(run.producer(), new Have(run.producer(), run.attempt(), blocks, run.last()));
        }
        return found;
    }

    /**
     * Which of the expected producers are not complete in a partition, ascending. A producer without any block for a
     * partition pushes nothing, and is never complete there.
     *
     * @throws FaroException as {@link #runs}; {@code invalid-argument} for a producer that is named twice
     */
    public static List<Missing> missing(PartitionReader reader, int partition, Collection<Expected> expected)
            throws FaroException {
        List<Expected> ordered = ordered(expected);
        SortedMap<Long, Have> have = byProducer(runs(reader, partition));
        List<Missing> missing = new ArrayList<>();
        for (Expected wanted : ordered) {
            Have found = have.get(wanted.producer());
            boolean same = found != null && found.attempt() == wanted.attempt();
            if (!same || !found.complete()) {
                missing.add(new Missing(wanted.producer(), wanted.attempt(), same ? found.blocks() : 0));
            }
        }
        return missing;
    }

    /** The expected producers, ascending. None is named twice. */
    static List<Expected> ordered(Collection<Expected> expected) throws FaroException {
        List<Expected> ordered = new ArrayList<>(expected);
        ordered.sort(Comparator.comparing(Expected::producer, Long::compareUnsigned));
        for (int i = 1; i < ordered.size(); i++) {
            if (ordered.get(i).producer() == ordered.get(i - 1).producer()) {
                throw FaroException.invalidArgument("each producer once",
                        "producer " + Long.toUnsignedString(ordered.get(i).producer()) + " twice");
            }
        }
        return ordered;
    }
}
