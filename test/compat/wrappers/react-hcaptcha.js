import { createElement, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { HCaptcha } from '@hcaptcha/react-hcaptcha';
import { expose, hear, serviceUrl, siteKey } from './heard.js';

const widget = createElement(HCaptcha, {
  sitekey: siteKey,
  apihost: `${serviceUrl}/hcaptcha`,
  sentry: false,
  ref: expose,
  onVerify: hear('token'),
  onError: hear('error'),
  onOpen: hear('open'),
  onClose: hear('close'),
});
createRoot(document.querySelector('#app')).render(createElement(StrictMode, null, widget));
