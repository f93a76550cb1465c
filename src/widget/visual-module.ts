/**
 * What the picture-task script offers to the widget and the challenge page, which load it only when
 * the service asks for an image, a puzzle or their equivalent in sound.
 */
import type { ChallengeAnswer } from '../contract/captcha/challenge-api.ts';

/** `audio`: the visitor asked for the task in the other form, with or without pictures. */
export type VisualOutcome = { solution: Record<string, unknown> } | { audio: boolean };

export interface VisualTask {
  challenge: ChallengeAnswer;
  /** The task before this one was answered wrongly. */
  wrong: boolean;
  signal: AbortSignal;
}

export interface VisualModule {
  /** Shows the task in `panel`, and clears it when done; rejects with `cancelled`. */
  showVisual(panel: HTMLElement, task: VisualTask, language: string): Promise<VisualOutcome>;
}
