/**
 * The task for visitors who cannot see: count the tones of each group and type the counts. The Web Audio API plays the
 * samples, so the page's CSP needs no `media-src`. The visitor can play them any number of times.
 */
import type { TaskMessages } from '../../locales/messages.ts';
import { decodeBase64url } from '../../bytes/base64url.ts';
import type { AudioTask } from '../../contract/captcha/challenge-api.ts';
import { CaptchaError } from '../token/captcha-error.ts';
import { element } from '../dom/create-element.ts';
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
    id: 'digits',
    inputmode: 'numeric',
    autocomplete: 'off',
    maxlength: String(audio.groups),
    dir: 'ltr',
  });
  const frame = createFrame(panel, task, messages, { instruction: [messages.listen], other: messages.picture }, () => {
    const digits = input.value.replaceAll(/\D/g, '');
    if (digits.length === audio.groups) return { digits };
    input.setAttribute('aria-invalid', 'true');
    input.focus();
    return null;
  });
  const row = element('div', { class: 'row' });
  const play = element('button', { type: 'button' }, messages.play);
  row.append(play);
  const label = element('label', { for: 'digits' }, `${messages.digits} (${audio.groups} × 1–${audio.most})`);
  const answer = element('div', { class: 'row' });
  answer.append(input);
  frame.body.append(row, label, answer);
  const sound = player(samples, audio.sampleRate);
  play.addEventListener('click', () => {
    sound.play();
    input.focus();
  });
  return frame.done.finally(() => sound.stop());
}

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
