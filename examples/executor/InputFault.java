import dev.faro.FaroException;

/** A reduce task could not read an output. */
final class InputFault extends Exception {
    private static final long serialVersionUID = 1;

    private final transient MapOutput output;
    private final FaroException fault;

    InputFault(MapOutput output, FaroException fault) {
        super(output.toString(), fault);
        this.output = output;
        this.fault = fault;
    }

    MapOutput output() {
        return output;
    }

    FaroException fault() {
        return fault;
    }
}
