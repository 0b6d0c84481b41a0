package page

// notice is a page with a message and at most one button.
type notice struct {
	root    string // class of the page
	Icon    string // the name of a template in frame.html
	Heading string
	Text    []string
	// Button labels a link to the sign-in page; empty leaves it out.
	Button string
}

type noticeView struct {
	frame
	Notice notice
	Alert  bool
}

func (p *Pages) notice(site Site, status int, n notice) Page {
	if site.SignInURL == "" {
		n.Button = ""
	}
	view := noticeView{
		frame:  p.frame(site, n.root, n.Heading),
		Notice: n,
		Alert:  n.root == "error",
	}
	return render(noticeTemplate, status, &view, policy{styles: view.Styles, images: p.theme.sources(), hasForm: site.Acting != nil})
}
