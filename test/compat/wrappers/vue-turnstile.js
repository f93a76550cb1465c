import { createApp, h } from 'vue';
import VueTurnstile from 'vue-turnstile';
import { hear, siteKey } from './heard.js';

createApp({
  data: () => ({ token: '' }),
  render() {
    return h(VueTurnstile, {
      siteKey,
      modelValue: this.token,
      'onUpdate:modelValue': hear('token'),
      onError: hear('error'),
    });
  },
}).mount('#app');
