/**
 * The task for visitors who cannot see: listen to a recording and type the digits that it says. The Web Audio API plays
 * the samples, so the page's CSP needs no `media-src`. The visitor can play it any number of times. The focus stays on the
 * button meanwhile, so that no screen reader talks over the sound. Too few or too many digits are not sent, because that
 * would cost a try.
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
  const input = element('input', {
    inputmode: 'numeric',
    autocomplete: 'off',
    dir: 'ltr',
    'aria-label': messages.digits,
    'aria-describedby': 'count',
  });
  const complaint = element('p', { class: 'wrong', id: 'count', role: 'alert' });
  const texts = { instruction: [messages.listen], other: messages.picture };
  const frame = createFrame(panel, task, messages, texts, () => {
    const digits = digitsOf(input.value);
    const isWhole = digits.length === audio.digits;
    input.setAttribute('aria-invalid', String(!isWhole));
    complaint.textContent = isWhole ? '' : messages.count;
    if (!isWhole) input.focus();
    return isWhole ? { digits } : null;
  });
  const sound = player(samples, audio.sampleRate);
  const play = element('button', { type: 'button' }, messages.play);
  play.addEventListener('click', () => sound.play());
  const row = element('div', { class: 'row' });
  row.append(play, input);
  frame.body.append(row, complaint);
  return frame.done.finally(() => sound.stop());
}

/** Also Arabic, Persian and full-width digits: all of them end in their value. */
function digitsOf(text: string): string {
  return Array.from(text.match(/[0-9٠-٩۰-۹０-９]/g) ?? [], (digit) => digit.charCodeAt(0) & 15).join('');
}

/** Plays from the beginning. */
function player(samples: Uint8Array, sampleRate: number): { play(): void; stop(): void } {
  let context: AudioContext | undefined;
  let source: AudioBufferSourceNode | undefined;
  return {
    play() {
      // Browsers allow sound only after a click.
      context ??= new AudioContext();
      const buffer = context.createBuffer(1, samples.length, sampleRate);
      buffer.copyToChannel(
        Float32Array.from(samples, (sample) => (sample - 128) / 128),
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
