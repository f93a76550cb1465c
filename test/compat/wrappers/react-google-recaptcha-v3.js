import { createElement, StrictMode, useEffect } from 'react';
import { createRoot } from 'react-dom/client';
import { GoogleReCaptchaProvider, useGoogleReCaptcha } from 'react-google-recaptcha-v3';
import { expose, hear, siteKey } from './heard.js';

function Login() {
  const { executeRecaptcha } = useGoogleReCaptcha();
  useEffect(() => {
    if (executeRecaptcha) expose({ login: () => executeRecaptcha('shop/login').then(hear('token'), hear('error')) });
  }, [executeRecaptcha]);
  return null;
}
const provider = createElement(GoogleReCaptchaProvider, { reCaptchaKey: siteKey }, createElement(Login));
createRoot(document.querySelector('#app')).render(createElement(StrictMode, null, provider));
