// Makes a passkey for the signed-in user, and posts it to Pintle with
// the form that they pressed. client/ of the repository has this as a module,
// with sign-in too.
"use strict";
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential?.parseCreationOptionsFromJSON) continue;
  form.hidden = false;
  form.parentElement.querySelector("[data-passkey-missing]").hidden = true;
  const failed = form.querySelector("[role=alert]");
  let running;

  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    failed.hidden = true;
    // A browser does one at a time, and the cookie keeps the challenge of one.
    running?.abort();
    const { signal } = (running = new AbortController());
    try {
      const reply = await fetch(form.dataset.passkey, { signal });
      if (!reply.ok) throw new Error(`status ${reply.status}`);
      const { options } = await reply.json();
      const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
      publicKey.user.id = new TextEncoder().encode(options.user.id); // it is text, as Auth.js has it
      form.elements.data.value = JSON.stringify(await navigator.credentials.create({ publicKey, signal }));
      form.submit();
    } catch (error) {
      if (signal.aborted) return;
      failed.textContent =
        error.name === "InvalidStateError" ? "You have a passkey there already." :
        error.name === "NotAllowedError" ? "That was called off, or took too long." :
        "That did not work. Try again later.";
      failed.hidden = false;
    }
  });
}
