const reasons = {
  'depends on the present time': ['ago', 'now'],
  'is random': [
    ...['bcrypt', 'encryptAES', 'htpasswd', 'randAlpha', 'randAlphaNum', 'randAscii', 'randBytes', 'randInt'],
    ...['randNumeric', 'shuffle', 'uuidv4'],
  ],
  'handles keys and certificates': [
    ...['buildCustomCert', 'decryptAES', 'derivePassword', 'genCA', 'genCAWithKey', 'genPrivateKey'],
    ...['genSelfSignedCert', 'genSelfSignedCertWithKey', 'genSignedCert', 'genSignedCertWithKey'],
  ],
  'reads the environment or the network': ['env', 'expandenv', 'getHostByName'],
};

/** The reason for each omitted sprig function. Equal pods must be rendered equally. */
export const omittedFunctions: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries(reasons).flatMap(([reason, names]) => names.map((name) => [name, reason])),
);
