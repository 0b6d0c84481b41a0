// Runs the WebAuthn ceremony of a sign-in form. The JSON that goes to and fro
// is that of the version 9 browser library the servers of this contract expect:
// binary values in base64url, except user ids, which are text.
"use strict";
(() => {
  const toBytes = (text) =>
    Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  const toText = (buffer) =>
    btoa(Array.from(new Uint8Array(buffer), (b) => String.fromCharCode(b)).join(""))
      .replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const descriptors = (list) => list?.map((d) => ({ ...d, id: toBytes(d.id) }));

  const create = async (options, signal) => {
    const { challenge, user, excludeCredentials } = options;
    const credential = await navigator.credentials.create({
      publicKey: {
        ...options,
        challenge: toBytes(challenge),
        user: { ...user, id: new TextEncoder().encode(user.id) },
        excludeCredentials: descriptors(excludeCredentials),
      },
      signal,
    });
    const { response } = credential;
    const publicKey = response.getPublicKey?.();
    return describe(credential, {
      attestationObject: toText(response.attestationObject),
      clientDataJSON: toText(response.clientDataJSON),
      transports: response.getTransports?.(),
      publicKeyAlgorithm: response.getPublicKeyAlgorithm?.(),
      publicKey: publicKey ? toText(publicKey) : undefined,
      authenticatorData: response.getAuthenticatorData ? toText(response.getAuthenticatorData()) : undefined,
    });
  };

  const get = async (options, signal, conditional) => {
    const credential = await navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: toBytes(options.challenge),
        allowCredentials: conditional ? [] : descriptors(options.allowCredentials),
      },
      mediation: conditional ? "conditional" : undefined,
      signal,
    });
    const { response } = credential;
    return describe(credential, {
      authenticatorData: toText(response.authenticatorData),
      clientDataJSON: toText(response.clientDataJSON),
      signature: toText(response.signature),
      userHandle: response.userHandle ? new TextDecoder().decode(response.userHandle) : undefined,
    });
  };

  const describe = (credential, response) => ({
    id: credential.id,
    rawId: toText(credential.rawId),
    response,
    type: credential.type,
    clientExtensionResults: credential.getClientExtensionResults(),
    authenticatorAttachment: credential.authenticatorAttachment ?? undefined,
  });

  // Of all forms of the page, since a browser runs one ceremony at a time.
  let running, asked, pressed = false;
  let offer = () => {};

  const begin = () => {
    running?.abort();
    running = new AbortController();
    return running.signal;
  };
  // Each set of options replaces the challenge in the cookie. The next is asked
  // for when the one before has arrived, lest that be the last to arrive, or
  // when it has taken too long.
  const ask = async (form, parameters, signal) => {
    await asked?.catch(() => {});
    signal.throwIfAborted();
    asked = fetch(`${form.dataset.passkeyOptions}?${new URLSearchParams(parameters)}`, {
      signal: AbortSignal.timeout(10000),
    });
    const reply = await asked;
    if (!reply.ok) throw new Error(`passkey options: status ${reply.status}`);
    return reply.json();
  };
  const send = (form, action, credential) => {
    pressed = true;
    for (const [name, value] of [["action", action], ["data", JSON.stringify(credential)]]) {
      form.append(Object.assign(document.createElement("input"), { type: "hidden", name, value }));
    }
    // A field may be called "submit" and hide the method of that name.
    HTMLFormElement.prototype.submit.call(form);
  };

  const setUp = (form) => {
    form.hidden = false; // without this script it does nothing
    const failed = form.querySelector("[data-passkey-failed]");
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      failed.hidden = true;
      pressed = true;
      const signal = begin();
      const inputs = [...form.querySelectorAll("[data-form-field]")];
      const shared = document.getElementById(form.dataset.passkeyAddress);
      if (shared?.value) inputs.push(shared); // without an address the authenticator finds the passkey
      const fields = inputs.map(({ name, value }) => [name, value]);
      try {
        const { action, options } = await ask(form, fields, signal);
        send(form, action, await (action === "register" ? create(options, signal) : get(options, signal)));
      } catch (error) {
        if (signal.aborted) return;
        // The user may have closed the dialogue. Anything else is for the developer: a
        // browser accepts no passkey for an IP address, for example.
        if (error.name !== "NotAllowedError") console.warn("passkey:", error);
        failed.hidden = false;
        pressed = false;
        offer();
      }
    });
    if (!("passkeyAutofill" in form.dataset)) return;

    offer = async () => {
      if (pressed || document.visibilityState !== "visible") return;
      const signal = begin();
      try {
        if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
        const { options } = await ask(form, { action: "authenticate" }, signal);
        send(form, "authenticate", await get(options, signal, true));
      } catch {
        // The user has not asked for a passkey, so a failure is not shown.
      }
    };
    offer();
    // The cookie keeps a challenge for a quarter of an hour, and another tab
    // replaces it.
    document.addEventListener("visibilitychange", offer);
    setInterval(offer, 10 * 60 * 1000);
  };

  for (const form of document.querySelectorAll("form[data-passkey-options]")) {
    if (window.PublicKeyCredential) setUp(form);
    else form.closest(".provider").hidden = true;
  }
})();
