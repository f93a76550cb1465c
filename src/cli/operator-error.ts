/** A mistake or a state that the operator can correct. The message says it in one sentence, so no stack trace is shown. */
export class OperatorError extends Error {}
