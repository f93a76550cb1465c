/**
 * The task for visitors who cannot see: listen to a few short recordings, count the tunes that go up in each, and type
 * the counts. The Web Audio API plays the samples, so the page's CSP needs no `media-src`. The visitor can play each
 * recording any number of times. The focus stays on the button meanwhile, so that no screen reader talks over the sound.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import { decodeBase64url } from '../../bytes/base64url.ts';
import type { AudioTask } from '../../contract/captcha/challenge-api.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import { element } from '../dom/elements.ts';
import type { VisualOutcome, VisualTask } from './visual-module.ts';
import { createFrame } from './task-frame.ts';

export function showAudioTask(
  panel: HTMLElement,
  task: VisualTask,
  audio: AudioTask,
  messages: TaskMessages,
): Promise<VisualOutcome> {
  const samples = decodeBase64url(audio.samples);
  if (samples === null) throw new CaptchaError('unsupported', 'audio');
  const { groups, most } = audio;
  const inputs = Array.from({ length: groups }, (_, part) =>
    element('input', {
      inputmode: 'numeric',
      autocomplete: 'off',
      maxlength: '1',
      dir: 'ltr',
      'aria-label': `${messages.digits} ${part + 1} (1–${most})`,
    }),
  );
  const texts = { instruction: [messages.listen], other: messages.picture };
  const frame = createFrame(panel, task, messages, texts, () => {
    const counts = inputs.map(({ value }) => digitOf(value));
    const isWrong = counts.map((count) => count < 1 || count > most);
    for (const [part, input] of inputs.entries()) input.setAttribute('aria-invalid', String(isWrong[part]));
    inputs[isWrong.indexOf(true)]?.focus();
    return isWrong.includes(true) ? null : { digits: counts.join('') };
  });
  const sound = player(samples, audio.sampleRate);
  frame.body.append(element('p', {}, `${messages.digits} (1–${most})`));
  for (const [part, input] of inputs.entries()) {
    const play = element('button', { type: 'button' }, `${messages.play} ${part + 1}`);
    play.addEventListener('click', () => sound.play(part / groups, (part + 1) / groups));
    const row = element('div', { class: 'row' });
    row.append(play, input);
    frame.body.append(row);
  }
  return frame.done.finally(() => sound.stop());
}

/** Also of Arabic, Persian and full-width digits: all of them end in their value. 0 for anything else. */
function digitOf(text: string): number {
  return /^[0-9٠-٩۰-۹０-９]$/.test(text) ? text.charCodeAt(0) & 15 : 0;
}

/** Plays a share of the samples, from 0 to 1. */
function player(samples: Uint8Array, sampleRate: number): { play(from: number, to: number): void; stop(): void } {
  let context: AudioContext | undefined;
  let source: AudioBufferSourceNode | undefined;
  return {
    play(from, to) {
      const part = samples.subarray(from * samples.length, to * samples.length);
      // Browsers allow sound only after a click.
      context ??= new AudioContext();
      const buffer = context.createBuffer(1, part.length, sampleRate);
      buffer.copyToChannel(
        Float32Array.from(part, (sample) => (sample - 128) / 128),
        0,
      );
      source?.stop();
      source = context.createBufferSource();
      source.buffer = buffer;
      source.connect(context.destination);
      source.start();
    },
    stop() {
      source?.stop();
      void context?.close();
    },
  };
}
