/**
 * Makes the changes of a plan, step by step. When a step fails, the rest is not tried: the message says what was done, and
 * the same file continues from there, because its next plan has only what is left.
 */
import { CommandError } from '../command-line.ts';
import type { Given } from '../command.ts';
import { CallError } from '../management-call.ts';
import { printable } from '../print/printable.ts';
import { phases, type ConfigPlan, type PlanStep } from './plan.ts';
import type { ServiceState } from './service-state.ts';

/** Access control rules are written one by one, so several are under way. */
const PARALLEL_CALLS = 8;
const LISTED_MAX = 20;

/** @throws CommandError when somebody else changed something since the plan, or a step fails. */
export async function runPlan(
  plan: ConfigPlan,
  state: ServiceState,
  { progress, note, signal }: Pick<Given, 'progress' | 'note' | 'signal'>,
): Promise<void> {
  const changed = await state.changedSince();
  if (changed !== null)
    throw new CommandError(
      `Somebody changed ${changed} after the plan was made. Nothing was changed. Run "gatehouse plan" again.`,
    );
  const done: PlanStep[] = [];
  const { steps } = plan;
  const bar = progress('apply');
  const run = async (step: PlanStep): Promise<void> => {
    bar.at(done.length, steps.length, printable(step.title));
    if (signal.aborted) throw new StepError(step, new Error('The run was stopped.'));
    await step.run(plan.made).catch((error: unknown) => {
      throw new StepError(step, error);
    });
    done.push(step);
    // A long plan has a bar, and its counts at the end.
    if (steps.length <= LISTED_MAX) note(`[${done.length}/${steps.length}] ${printable(step.title)}`);
  };
  try {
    for (let at = 0; at < steps.length;) {
      const group = groupAt(steps, at);
      await inParallel(group, run);
      at += group.length;
    }
  } catch (error) {
    if (error instanceof StepError) throw stopped(steps, done, error);
    throw error;
  } finally {
    bar.end();
  }
}

class StepError extends Error {
  readonly step: PlanStep;
  override readonly cause: unknown;
  constructor(step: PlanStep, cause: unknown) {
    super('A step failed');
    this.step = step;
    this.cause = cause;
  }
}

/** Steps that may run at once. */
function groupAt(steps: readonly PlanStep[], at: number): readonly PlanStep[] {
  const isSingle = steps[at]!.phase !== phases.accessControl;
  const end = isSingle ? at + 1 : steps.findIndex(({ phase }, index) => index > at && phase !== phases.accessControl);
  return steps.slice(at, end === -1 ? undefined : end);
}

/** No further step begins after one has failed, and those under way end first. */
async function inParallel(steps: readonly PlanStep[], run: (step: PlanStep) => Promise<void>): Promise<void> {
  const waiting = [...steps].toReversed();
  const errors: unknown[] = [];
  await Promise.all(
    Array.from({ length: Math.min(PARALLEL_CALLS, steps.length) }, async () => {
      for (let step = waiting.pop(); step !== undefined && errors.length === 0; step = waiting.pop()) {
        await run(step).catch((error: unknown) => errors.push(error));
      }
    }),
  );
  if (errors.length > 0) throw errors[0];
}

function stopped(steps: readonly PlanStep[], done: readonly PlanStep[], { step, cause }: StepError): CommandError {
  const isStale = cause instanceof CallError && cause.status === 409 && cause.message.includes('changed since');
  const reason = isStale
    ? 'Somebody changed it after the plan was made. Run "gatehouse plan" again.'
    : cause instanceof Error
      ? cause.message
      : String(cause);
  // Without a response, or with a failure of the service, the effect may be there.
  const isUnsure = cause instanceof CallError && !cause.isRefusal;
  const nothing = isUnsure ? 'Nothing before it was changed, and it may be done all the same' : 'Nothing was changed';
  const left = steps.filter((one) => one !== step && !done.includes(one));
  return new CommandError(
    [
      `Could not ${step.title}: ${reason}`,
      ...listed(done.length === 0 ? nothing : `Done, ${done.length} of ${steps.length} steps`, done),
      ...listed('Not done', [step, ...left]),
      'Run the same command again: it makes the changes that are left.',
    ].join('\n'),
  );
}

function listed(title: string, steps: readonly PlanStep[]): string[] {
  const lines = steps.slice(0, LISTED_MAX).map((step) => `  ${printable(step.title)}`);
  const more = steps.length > LISTED_MAX ? [`  … and ${steps.length - LISTED_MAX} more`] : [];
  return lines.length === 0 ? [`${title}.`] : [`${title}:`, ...lines, ...more];
}
