/**
 * One small application for each framework. Each has the README's form, and the same panel with a widget that a test
 * shows, hides, changes and calls through `window.panel`.
 */
export interface FrameworkApp {
  framework: 'React' | 'Vue' | 'Svelte';
  /** Example of the README that has the form. */
  example: string;
  /** Files to write into the folder, by name. */
  files: Readonly<Record<string, string>>;
  /** Entries of the bundles. */
  form: string;
  panel: string;
  /** Exports `html`: the form as the server renders it. */
  server: string;
}

const react: FrameworkApp = {
  framework: 'React',
  example: 'react.jsx',
  form: 'react-form.jsx',
  panel: 'react-panel.jsx',
  server: 'react-server.jsx',
  files: {
    'react-form.jsx': `
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Login } from './react.jsx';
createRoot(document.querySelector('#app')).render(<StrictMode><Login /></StrictMode>);`,
    'react-server.jsx': `
import { renderToString } from 'react-dom/server';
import { Login } from './react.jsx';
export const html = renderToString(<Login />);`,
    'react-panel.jsx': `
import { StrictMode, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { flushSync } from 'react-dom';
import { Gatehouse } from '@gatehouse/widget/react';
const events = [];
function Panel() {
  const [isShown, show] = useState(true);
  const [settings, set] = useState({ sitekey: 'site-1', start: 'click' });
  const ref = useRef(null);
  window.panel = {
    events,
    show: (shown) => flushSync(() => show(shown)),
    set: (changed) => flushSync(() => set({ ...settings, ...changed })),
    execute: () => ref.current.execute(),
    reset: () => ref.current.reset(),
    retry: () => ref.current.retry(),
    response: () => ref.current.response,
  };
  const on = (name) => (...values) => events.push([name, ...values].join(' '));
  return isShown && <Gatehouse ref={ref} serviceUrl="/__protect" className="box" {...settings}
    onVerify={() => events.push('verify')} onReset={on('reset')} onError={on('error')} />;
}
createRoot(document.querySelector('#app')).render(<StrictMode><Panel /></StrictMode>);`,
  },
};

const vue: FrameworkApp = {
  framework: 'Vue',
  example: 'Login.vue',
  form: 'vue-form.js',
  panel: 'vue-panel.js',
  server: 'vue-server.js',
  files: {
    'vue-form.js': `
import { createApp } from 'vue';
import Login from './Login.vue';
createApp(Login).mount('#app');`,
    'vue-server.js': `
import { createSSRApp } from 'vue';
import { renderToString } from 'vue/server-renderer';
import Login from './Login.vue';
export const html = await renderToString(createSSRApp(Login));`,
    'vue-panel.js': `
import { createApp, h, nextTick, reactive, ref } from 'vue';
import { Gatehouse } from '@gatehouse/widget/vue';
const events = [];
const isShown = ref(true);
const settings = reactive({ sitekey: 'site-1', start: 'click' });
const widget = ref(null);
window.panel = {
  events,
  show: (shown) => { isShown.value = shown; return nextTick(); },
  set: (changed) => { Object.assign(settings, changed); return nextTick(); },
  execute: () => widget.value.execute(),
  reset: () => widget.value.reset(),
  retry: () => widget.value.retry(),
  response: () => widget.value.getResponse(),
};
const on = (name) => (...values) => events.push([name, ...values].join(' '));
createApp({ setup: () => () => isShown.value ? h(Gatehouse, { ref: widget, serviceUrl: '/__protect', class: 'box', ...settings,
  onVerify: () => events.push('verify'), onReset: on('reset'), onError: on('error') }) : null }).mount('#app');`,
  },
};

const svelte: FrameworkApp = {
  framework: 'Svelte',
  example: 'Login.svelte',
  form: 'svelte-form.js',
  panel: 'svelte-panel.js',
  server: 'svelte-server.js',
  files: {
    'svelte-form.js': `
import { mount } from 'svelte';
import Login from './Login.svelte';
mount(Login, { target: document.querySelector('#app') });`,
    'svelte-server.js': `
import { render } from 'svelte/server';
import Login from './Login.svelte';
export const html = render(Login).body;`,
    'svelte-panel.js': `
import { flushSync, mount } from 'svelte';
import Panel from './Panel.svelte';
mount(Panel, { target: document.querySelector('#app') });
export { flushSync };`,
    'Panel.svelte': `
<script>
  import { flushSync } from 'svelte';
  import { Gatehouse } from '@gatehouse/widget/svelte';
  const events = [];
  let isShown = $state(true);
  let settings = $state({ sitekey: 'site-1', start: 'click' });
  let widget = $state();
  const on = (name) => (...values) => events.push([name, ...values].join(' '));
  window.panel = {
    events,
    show: (shown) => { isShown = shown; flushSync(); },
    set: (changed) => { Object.assign(settings, changed); flushSync(); },
    execute: () => widget.execute(),
    reset: () => widget.reset(),
    retry: () => widget.retry(),
    response: () => widget.getResponse(),
  };
</script>
{#if isShown}
  <Gatehouse bind:this={widget} serviceUrl="/__protect" class="box" {...settings}
    onVerify={() => events.push('verify')} onReset={on('reset')} onError={on('error')} />
{/if}`,
  },
};

export const apps: readonly FrameworkApp[] = [react, vue, svelte];
