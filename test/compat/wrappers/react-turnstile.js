import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Turnstile } from '@marsidev/react-turnstile';
import { expose, hear, siteKey } from './heard.js';

const widget = createElement(Turnstile, {
  siteKey,
  ref: expose,
  options: { action: 'login', cData: 'order-7', responseFieldName: 'proof' },
  onSuccess: hear('token'),
  onError: hear('error'),
  onExpire: hear('expired'),
});
createRoot(document.querySelector('#app')).render(createElement(StrictMode, null, widget));
