package provider_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pintleauth/pintle"
	"github.com/pintleauth/pintle/provider"
	"github.com/pintleauth/pintle/store/memstore"
)

const mailKey = "key-1/secret"

var mailServices = map[string]func(provider.MailOptions) *pintle.Email{
	"forwardemail": provider.ForwardEmail,
	"loops": func(o provider.MailOptions) *pintle.Email {
		return provider.Loops(provider.LoopsOptions{MailOptions: o, TransactionalID: "mail-1"})
	},
	"mailgun": func(o provider.MailOptions) *pintle.Email {
		return provider.Mailgun(provider.MailgunOptions{MailOptions: o})
	},
	"postmark": provider.Postmark,
	"resend":   provider.Resend,
	"sendgrid": provider.SendGrid,
}

func mailMessage(from string) *pintle.Message {
	return &pintle.Message{
		From: from, To: "ada@example.com", Subject: "Sign in to app.example", Text: "text", HTML: "<p>html</p>",
		URL: "https://app.example/auth/callback/x?token=t0ken", Token: "t0ken", Provider: "x",
		Expires: time.Date(2026, 11, 20, 18, 0, 0, 0, time.UTC),
	}
}

// transport is a service as a function.
type transport func(*http.Request) (*http.Response, error)

func (f transport) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answering(status int, body string) transport {
	return func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body)), Request: r}, nil
	}
}

func TestMailsAreSentAsTheServicesWantThem(t *testing.T) {
	text, err := os.ReadFile("testdata/mail.json")
	if err != nil {
		t.Fatal(err)
	}
	var services []struct {
		ID, Name, URL, Encoding string
		Headers                 map[string]string
		Body                    any
	}
	if err := json.Unmarshal(text, &services); err != nil {
		t.Fatal(err)
	}
	if len(services) != len(mailServices) {
		t.Errorf("there are %d services, want %d", len(mailServices), len(services))
	}
	for _, want := range services {
		t.Run(want.ID, func(t *testing.T) {
			sent := 0
			p := mailServices[want.ID](provider.MailOptions{From: "no-reply@mail.example", APIKey: mailKey})
			if p.ID != want.ID || p.Name != want.Name {
				t.Errorf("it is %q %q, want %q %q", p.ID, p.Name, want.ID, want.Name)
			}
			send(t, p, func(r *http.Request) (*http.Response, error) {
				sent++
				fill := strings.NewReplacer("{fromDomain}", "mail.example", "{apiKey}", mailKey, "{from}", "no-reply@mail.example",
					"{to}", "ada@example.com", "{host}", "app.example", "{text}", "text", "{html}", "<p>html</p>",
					"{url}", "https://app.example/auth/callback/x?token=t0ken", "{transactionalId}", "mail-1",
					"Mailgun <{from}>", "no-reply@mail.example").Replace // the sender is that of the configuration
				if r.Method != http.MethodPost || r.URL.String() != fill(want.URL) {
					t.Errorf("it was sent with %s %s, want POST %s", r.Method, r.URL, fill(want.URL))
				}
				for name, value := range want.Headers {
					if scheme, credentials, ok := strings.Cut(fill(value), "base64("); ok {
						value = scheme + base64.StdEncoding.EncodeToString([]byte(strings.TrimSuffix(credentials, ")")))
					}
					if got := r.Header.Get(name); got != fill(value) {
						t.Errorf("the header %s is %q, want %q", name, got, fill(value))
					}
				}
				var body any
				if err := json.Unmarshal(bodyOf(t, r), &body); err != nil {
					t.Fatal(err)
				}
				if wanted := filled(want.Body, fill); !reflect.DeepEqual(body, wanted) {
					t.Errorf("the body is %v, want %v", body, wanted)
				}
				return answering(http.StatusAccepted, "{}")(r)
			})
			if sent != 1 {
				t.Errorf("%d requests were made", sent)
			}
		})
	}
}

// filled replaces the text in braces in every text of a JSON value.
func filled(value any, fill func(string) string) any {
	switch v := value.(type) {
	case string:
		return fill(v)
	case []any:
		for i := range v {
			v[i] = filled(v[i], fill)
		}
	case map[string]any:
		for name := range v {
			v[name] = filled(v[name], fill)
		}
	}
	return value
}

// bodyOf returns a form in several parts as JSON, and JSON as it is.
func bodyOf(t *testing.T, r *http.Request) []byte {
	t.Helper()
	media, params, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != "multipart/form-data" {
		text, _ := io.ReadAll(r.Body)
		return text
	}
	form, err := multipart.NewReader(r.Body, params["boundary"]).ReadForm(1 << 20)
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]string{}
	for name, values := range form.Value {
		members[name] = values[0]
	}
	text, _ := json.Marshal(members)
	return text
}

// send completes a provider and sends a message with it.
func send(t *testing.T, p *pintle.Email, f transport) {
	t.Helper()
	if err := trySend(t.Context(), t, p, f); err != nil {
		t.Errorf("Send: %v", err)
	}
}

func trySend(ctx context.Context, t *testing.T, p *pintle.Email, f http.RoundTripper) error {
	t.Helper()
	if err := p.Complete(p, &http.Client{Transport: f}); err != nil {
		t.Fatal(err)
	}
	return p.Send(ctx, mailMessage(p.From))
}

func TestSendersWithANameKeepIt(t *testing.T) {
	for id, create := range mailServices {
		if id == "loops" {
			continue // whose sender is set at the service
		}
		t.Run(id, func(t *testing.T) {
			p := create(provider.MailOptions{From: "The Example <no-reply@mail.example>", APIKey: mailKey})
			send(t, p, func(r *http.Request) (*http.Response, error) {
				if body := string(bodyOf(t, r)); !strings.Contains(body, "The Example") || !strings.Contains(body, "no-reply@mail.example") {
					t.Errorf("the sender is missing in %s", body)
				}
				if id == "mailgun" && r.URL.Path != "/v3/mail.example/messages" {
					t.Errorf("the domain is wrong in %s", r.URL)
				}
				return answering(http.StatusOK, "{}")(r)
			})
		})
	}
}

func TestMailgunHasAnEuropeanRegionAndOtherDomains(t *testing.T) {
	p := provider.Mailgun(provider.MailgunOptions{
		MailOptions: provider.MailOptions{From: "a@example.com", APIKey: mailKey}, EU: true, Domain: "mg.example.com/..",
	})
	send(t, p, func(r *http.Request) (*http.Response, error) {
		if got, want := r.URL.String(), "https://api.eu.mailgun.net/v3/mg.example.com%2F../messages"; got != want {
			t.Errorf("it was sent to %s, want %s", got, want)
		}
		return answering(http.StatusOK, "")(r)
	})
}

func TestRefusalsCarryWhatTheServiceSaidAndNoSecret(t *testing.T) {
	for name, tt := range map[string]struct{ answer, want string }{
		"Resend":   {`{"name":"validation_error","message":"The domain is not verified"}`, "The domain is not verified"},
		"SendGrid": {`{"errors":[{"message":"The from address does not match"}]}`, "The from address does not match"},
		"Postmark": {`{"ErrorCode":10,"Message":"Bad or missing server token"}`, "Bad or missing server token"},
		"text":     {"Forbidden", "Forbidden"},
		"echo":     {`{"message":"bad key ` + mailKey + ` for t0ken"}`, "bad key [concealed]"},
	} {
		t.Run(name, func(t *testing.T) {
			p := provider.Resend(provider.MailOptions{From: "a@example.com", APIKey: mailKey})
			err := trySend(t.Context(), t, p, answering(http.StatusForbidden, tt.answer))
			if err == nil || !strings.Contains(err.Error(), "403") || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("Send: %v, want one with 403 and %q", err, tt.want)
			}
			if strings.Contains(err.Error(), mailKey) || strings.Contains(err.Error(), "t0ken") {
				t.Errorf("a secret is in %v", err)
			}
		})
	}
}

func TestAnswersOfServicesAreBounded(t *testing.T) {
	p := provider.Resend(provider.MailOptions{From: "a@example.com", APIKey: mailKey})
	endless := &endlessReader{}
	err := trySend(t.Context(), t, p, transport(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusBadRequest, Header: http.Header{}, Body: io.NopCloser(endless), Request: r}, nil
	}))
	if err == nil || len(err.Error()) > 2000 || endless.read > 1<<20 {
		t.Errorf("%d bytes were read, for an error of %d", endless.read, len(err.Error()))
	}
}

type endlessReader struct{ read int }

func (e *endlessReader) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestServicesThatDoNotAnswerAreGivenUpOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := provider.Postmark(provider.MailOptions{From: "a@example.com", APIKey: mailKey})
		start := time.Now()
		err := trySend(t.Context(), t, p, transport(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		}))
		if waited := time.Since(start); err == nil || waited > 15*time.Second {
			t.Errorf("Send took %v: %v", waited, err)
		}
	})
}

func TestRedirectsOfServicesAreNotFollowed(t *testing.T) {
	p := provider.Resend(provider.MailOptions{From: "a@example.com", APIKey: mailKey})
	asked := 0
	err := trySend(t.Context(), t, p, transport(func(r *http.Request) (*http.Response, error) {
		asked++
		resp, err := answering(http.StatusTemporaryRedirect, "")(r)
		resp.Header.Set("Location", "https://elsewhere.example/")
		return resp, err
	}))
	if err == nil || asked != 1 {
		t.Errorf("%d requests were made: %v", asked, err)
	}
}

func TestWebhookSendsEverythingToAnAddressOfOnesOwn(t *testing.T) {
	p := provider.Webhook(provider.WebhookOptions{
		MailOptions: provider.MailOptions{From: "a@example.com", APIKey: mailKey}, URL: "https://hooks.example/mail?tenant=1",
	})
	send(t, p, func(r *http.Request) (*http.Response, error) {
		if r.URL.String() != "https://hooks.example/mail?tenant=1" || r.Header.Get("Authorization") != "Bearer "+mailKey {
			t.Errorf("it was sent to %s with %q", r.URL, r.Header.Get("Authorization"))
		}
		var body map[string]string
		if err := json.Unmarshal(bodyOf(t, r), &body); err != nil {
			t.Fatal(err)
		}
		want := map[string]string{
			"from": "a@example.com", "to": "ada@example.com", "subject": "Sign in to app.example", "text": "text",
			"html": "<p>html</p>", "url": "https://app.example/auth/callback/x?token=t0ken",
			"expires": "2026-11-20T18:00:00Z", "provider": "x",
		}
		if !reflect.DeepEqual(body, want) {
			t.Errorf("the body is %v, want %v", body, want)
		}
		return answering(http.StatusNoContent, "")(r)
	})
}

// P-10
func TestNewRejectsIncompleteMailProviders(t *testing.T) {
	complete := provider.MailOptions{From: "a@example.com", APIKey: mailKey}
	for name, tt := range map[string]struct {
		p    *pintle.Email
		want string
	}{
		"no key":           {provider.Resend(provider.MailOptions{From: "a@example.com"}), "AUTH_RESEND_KEY"},
		"no key, other id": {provider.Resend(provider.MailOptions{ID: "work-mail", From: "a@example.com"}), "AUTH_WORK_MAIL_KEY"},
		"no sender":        {provider.Postmark(provider.MailOptions{APIKey: mailKey}), "MailOptions.From"},
		"no mail":          {provider.Loops(provider.LoopsOptions{MailOptions: complete}), "TransactionalID"},
		"plain webhook":    {provider.Webhook(provider.WebhookOptions{MailOptions: complete, URL: "http://hooks.example/"}), "https"},
		"no webhook":       {provider.Webhook(provider.WebhookOptions{MailOptions: complete}), "https"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := pintle.New(mailConfig(tt.p, nil))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("New: %v, want one with %q", err, tt.want)
			}
			if !errors.Is(err, pintle.CodeConfiguration) {
				t.Errorf("New: %v is no configuration error", err)
			}
		})
	}
}

func TestAWebhookOfThisMachineNeedsNoTLS(t *testing.T) {
	options := provider.MailOptions{From: "a@example.com", APIKey: mailKey}
	for _, address := range []string{"http://127.0.0.1:8025/", "http://[::1]/", "http://localhost:8025/", "http://Hooks.LocalHost/"} {
		if _, err := pintle.New(mailConfig(provider.Webhook(provider.WebhookOptions{MailOptions: options, URL: address}), nil)); err != nil {
			t.Errorf("a webhook at %s: %v", address, err)
		}
	}
	for _, address := range []string{"http://10.0.0.1/", "http://localhost.example.com/", "http://evillocalhost/", "http://127.1/", "ftp://localhost/"} {
		if _, err := pintle.New(mailConfig(provider.Webhook(provider.WebhookOptions{MailOptions: options, URL: address}), nil)); err == nil {
			t.Errorf("a webhook at %s is accepted", address)
		}
	}
}

func TestTheKeyOfAMailServiceIsAVariable(t *testing.T) {
	p := provider.SendGrid(provider.MailOptions{From: "a@example.com"})
	var asked []string
	_, err := pintle.New(mailConfig(p, func(name string) string {
		asked = append(asked, name)
		if name == "AUTH_SENDGRID_KEY" {
			return mailKey
		}
		return ""
	}))
	if err != nil {
		t.Errorf("New: %v (requested %v)", err, asked)
	}
	if p.APIKey != "" || p.Send != nil {
		t.Error("New changed its argument")
	}
}

func mailConfig(p *pintle.Email, getenv func(string) string) pintle.Config {
	if getenv == nil {
		getenv = func(string) string { return "" }
	}
	return pintle.Config{
		Providers: []pintle.Provider{p}, Secrets: []string{"a secret of the application, long enough"},
		URL: "https://app.example", Getenv: getenv, Store: memstore.New(),
	}
}
