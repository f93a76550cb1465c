/**
 * The exports of the picture-task script, for the widget and the challenge page. They load it only when the service
 * asks for an image, a puzzle or an audio task.
 */
import type { ChallengeResponse } from '../../contract/captcha/challenge-api.ts';

/**
 * A solution of `{audio}` asks for an audio task (`true`) or for a picture task (`false`) instead. `anew`: the visitor asks
 * for a new challenge, in sound (`true`) or in pictures (`false`).
 */
export type VisualOutcome = { solution: Record<string, unknown> } | { anew: boolean };

export interface VisualTask {
  challenge: ChallengeResponse;
  /** The solution of the task before was wrong. */
  wrong: boolean;
  /** The site's page on privacy, where it names one. */
  privacyUrl?: string | undefined;
  signal: AbortSignal;
}

export interface VisualModule {
  /**
   * Shows the task in `panel` instead of the one before, and leaves it there as busy when the visitor has finished.
   * Rejects with `cancelled` when the signal aborts.
   */
  showVisual(panel: HTMLElement, task: VisualTask, language: string): Promise<VisualOutcome>;
}
