/**
 * What a worker sees of the browser. Scripts that disguise a page seldom reach its workers. Compared with the page in
 * the page itself: only which of them differ is reported.
 */
import type { Renderer } from '../../contract/edge/page-report-names.ts';

export interface WorkerFacts {
  userAgent: string;
  platform: string;
  languages: string;
  cores: number;
  zone: string;
  renderer: Renderer | null;
}

/** A worker that has not answered by then is left out. */
const ANSWER_MAX_MS = 1500;

export function browserFacts(): Omit<WorkerFacts, 'renderer'> {
  const { userAgent, platform, languages, hardwareConcurrency } = navigator;
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return { userAgent, platform, languages: languages.join(), cores: hardwareConcurrency, zone };
}

/** In a worker. */
export function workerFacts(): WorkerFacts {
  return { ...browserFacts(), renderer: renderer() };
}

/** On a page. `null` where no worker may run, as under some policies. */
export function askWorker(address: string): Promise<WorkerFacts | null> {
  return new Promise((resolve) => {
    try {
      const worker = new Worker(address);
      const end = (facts: WorkerFacts | null): void => {
        clearTimeout(timer);
        worker.terminate();
        resolve(facts);
      };
      const timer = setTimeout(end, ANSWER_MAX_MS, null);
      worker.addEventListener('message', ({ data }: MessageEvent<WorkerFacts>) => end(data));
      worker.addEventListener('error', () => end(null));
    } catch {
      resolve(null);
    }
  });
}

const MASKED_RENDERER = 'WebKit WebGL';
const kinds: readonly [RegExp, Renderer][] = [
  [/SwiftShader/, 'swiftshader'],
  [/llvmpipe|softpipe/, 'llvmpipe'],
  [/Direct3D/, 'direct3d'],
  [/Metal|^Apple/, 'metal'],
  [/Vulkan/, 'vulkan'],
  [/OpenGL|\bGL\b|Mesa/, 'opengl'],
  [/^(?:Mozilla|WebKit WebGL|Generic Renderer)$/, 'hidden'],
];

/** The kind of the graphics driver, never its name. */
function renderer(): Renderer | null {
  try {
    const gl = new OffscreenCanvas(1, 1).getContext('webgl');
    if (gl === null) return null;
    let name = String(gl.getParameter(gl.RENDERER));
    // Firefox says it by itself, and warns of the extension.
    const extension = name === MASKED_RENDERER ? gl.getExtension('WEBGL_debug_renderer_info') : null;
    if (extension !== null) name = String(gl.getParameter(extension.UNMASKED_RENDERER_WEBGL));
    return kinds.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
  } catch {
    return null;
  }
}
