package dev.faro.fuzz;

import dev.faro.FaroException;
import dev.faro.repair.Rebuild;
import dev.faro.repair.RebuildOptions;
import dev.faro.repair.RepairReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;

/** {@code header_block}: the blocks of a data file, compared between {@code rebuild} and a model of the clauses. */
final class HeaderBlockTarget implements Target {
    @Override
    public void run(byte[] input, Folder folder, Transcript transcript) throws IOException {
        byte flags = input.length > 0 ? input[0] : 0;
        byte[] file = input.length > 1 ? Arrays.copyOfRange(input, 1, input.length) : new byte[0];
        if (FilesInput.isSealed(flags)) {
            Seal.seal(file);
        }
        Path data = folder.write(FilesInput.DATA, file);
        DataModel model = DataModel.of(file, FilesInput.limits(flags));
        String found;
        try {
            RepairReport report = Rebuild.rebuild(data, folder.path(FilesInput.INDEX),
                    RebuildOptions.DEFAULT.withLimits(FilesInput.limits(flags)).withDryRun(true));
            found = "regions " + report.regions() + " blocks " + report.blocks() + " kept " + report.dataKept()
                    + " cut " + report.dataCut() + " orphaned " + report.orphaned();
            transcript.line("rebuild", report.regions(), report.blocks(), report.dataKept(), report.dataCut(),
                    report.orphaned());
        } catch (FaroException e) {
            found = e.code() + " at " + e.offset();
            transcript.line("rebuild", e);
        }
        Broken.unless(found.equals(model.result()), "rebuild: " + found + ", the model: " + model.result());
        Broken.unless(Arrays.equals(file, folder.read(FilesInput.DATA)) && folder.count() == 1,
                "a dry run changes nothing");
    }
}
