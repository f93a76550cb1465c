/**
 * What the picture-task script offers to the widget and the challenge page, which load it only when
 * the service asks for an image or a puzzle.
 */
import type { ChallengeAnswer } from '../contract/challenge-api.ts';

export interface VisualModule {
  /** Shows the task in `panel` and resolves with the solution; rejects with `cancelled`. */
  showVisual(
    panel: HTMLElement,
    challenge: ChallengeAnswer,
    signal: AbortSignal,
    language: string,
  ): Promise<Record<string, unknown>>;
}
