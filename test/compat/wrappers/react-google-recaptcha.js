import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { default as ReCAPTCHA } from 'react-google-recaptcha';
import { expose, hear, siteKey } from './heard.js';

const size = new URLSearchParams(location.search).get('size') ?? 'normal';
const widget = createElement(ReCAPTCHA, {
  sitekey: siteKey,
  size,
  ref: expose,
  onChange: hear('token'),
  onErrored: hear('error'),
});
createRoot(document.querySelector('#app')).render(createElement(StrictMode, null, widget));
