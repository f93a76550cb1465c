import { load } from 'recaptcha-v3';
import { expose, hear, serviceUrl, siteKey } from './heard.js';

const customUrl = (script) => `${serviceUrl}/recaptcha/${script}.js`;
const useEnterprise = location.search.includes('enterprise');
load(siteKey, { useEnterprise, customUrl: customUrl(useEnterprise ? 'enterprise' : 'api') }).then(
  (captcha) => expose({ login: () => captcha.execute('shop/login').then(hear('token'), hear('error')) }),
  hear('error'),
);
